"""Generation: what the engines with a model have in common."""
