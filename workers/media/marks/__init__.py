"""Marks in files: write and read C2PA manifests and tags that say that a machine made it."""
