"""Which words may replace each other, found from the stories alone."""
