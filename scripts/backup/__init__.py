"""Backup: all that a system keeps as one file, and a new system made of it."""
