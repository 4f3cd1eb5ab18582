"""Webhooks: events that are due are sent; sending.py is the way in."""
