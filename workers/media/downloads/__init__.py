"""Fetching: the parts of the guarded download (workers/media/downloads/fetcher.py)."""
