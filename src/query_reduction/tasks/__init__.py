"""Conversations: knowledge base, copying of names, the responder and the chat session."""
