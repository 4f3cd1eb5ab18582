"""Sitemaps: lists of a site's pages, read from the web; reading.py is the way in."""
