"""Other networks that answer the same questions: one self-contained file each."""
