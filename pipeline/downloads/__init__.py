"""Downloads of what users point at, guarded: they connect to allowed addresses alone (docs/downloads.md)."""
