"""Webhooks: events that are sent to addresses of accounts, signed, in the form of Standard Webhooks.

The transaction in which an event happens adds a delivery; workers/webhooks sends it."""
