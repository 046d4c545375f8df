"""The words of a sentence become a vector."""
