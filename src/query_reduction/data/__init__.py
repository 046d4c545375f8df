"""Stories, questions and answers: read, checked, and turned into numbers."""
