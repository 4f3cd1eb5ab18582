"""Keys: made, listed, changed and deleted by their account."""
