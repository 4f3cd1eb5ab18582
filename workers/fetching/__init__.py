"""Fetching: the parts of the guarded download (workers/fetch.py)."""
