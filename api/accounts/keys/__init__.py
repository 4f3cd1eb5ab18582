"""Keys: created, listed, changed and deleted by their account."""
