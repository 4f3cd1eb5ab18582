"""Backup: a system's data as one file, and its restoration."""
