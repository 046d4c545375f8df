"""Dialogs: the knowledge base, copying, what a user meant, responses."""
