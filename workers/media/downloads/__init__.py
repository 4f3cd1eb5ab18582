"""Downloads of what users point at, guarded: fetcher.py is the way in."""
