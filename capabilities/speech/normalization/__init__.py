"""Spoken text: what is said for a written text."""
