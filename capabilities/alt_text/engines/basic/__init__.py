"""basic: the engine without a model, for when no other is ready."""
