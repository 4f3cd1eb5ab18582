"""Handlers: what turns an item into what its user asked for, one file a group of kinds, with the family's engines."""
