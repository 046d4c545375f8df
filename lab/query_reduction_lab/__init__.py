"""The laboratory: it measures the library; nobody needs it to use the library."""
