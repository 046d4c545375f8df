"""ProPara: both official evaluations, and the table of systems that track what a process does to things."""
