"""Resumable uploads by tus 1.0 (tus.io): large files in several requests, each going on where the last broke off."""
