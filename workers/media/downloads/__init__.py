"""Downloads of users' URLs, guarded; start with fetcher.py."""
