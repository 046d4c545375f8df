"""Studies: each writes one published file."""
