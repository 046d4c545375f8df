"""Models in use: Query-Reduction Networks on NumPy arrays, by native code where there is any, never with PyTorch."""
