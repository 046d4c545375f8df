"""The Query-Reduction Network."""
