"""Where stories come from: the published files, generated ones, a path."""
