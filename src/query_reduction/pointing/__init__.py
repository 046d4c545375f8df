"""Answers that are phrases of the story, and the state of things after every sentence."""
