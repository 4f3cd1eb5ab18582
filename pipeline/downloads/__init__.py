"""Downloads of URLs that users name, guarded: they connect to allowed addresses alone (docs/downloads.md)."""
