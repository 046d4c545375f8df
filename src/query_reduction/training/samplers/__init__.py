"""What a training epoch is drawn from."""
