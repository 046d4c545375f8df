"""The systems that Query-Reduction Networks are compared with, and the registry of all networks."""
