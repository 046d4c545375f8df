"""The tables of the paper: their definitions, training what is missing, and reporting what is stored."""
