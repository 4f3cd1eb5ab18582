"""Notices: people are told by e-mail of what happens in their accounts.

Each source finds its events in rows that are there anyway, so that no other transaction writes a line more. Start with
gathering.py; sending.py speaks SMTP."""
