"""Sitemaps: lists of a site's pages, read from the web. It starts in reading.py."""
