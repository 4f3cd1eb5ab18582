"""Generation: the common parts of engines with a model."""
