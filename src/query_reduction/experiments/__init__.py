"""How well a network answers: metrics, and the published numbers to compare with."""
