"""A vector becomes an answer."""
