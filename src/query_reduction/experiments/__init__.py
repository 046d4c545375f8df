"""The tables of the paper: what they are made of, training what they lack, and reporting what is stored."""
