"""Training: many restarts of one network as one computation, kept safe against interruption."""
