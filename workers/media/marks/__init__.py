"""Marks in files: C2PA manifests and tags that say what a machine made, written and read."""
