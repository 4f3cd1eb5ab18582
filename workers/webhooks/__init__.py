"""Webhooks: sends due events; start with sending.py."""
