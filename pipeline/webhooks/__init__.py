"""Webhooks: events that are sent to addresses of accounts, signed, in the form of Standard Webhooks.

Whoever has an event adds a delivery, in the transaction in which it happens; workers/webhooks sends it.
"""
