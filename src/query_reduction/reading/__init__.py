"""A story and a question as a network reads them, and answers in words."""
