"""Webhooks: the account's addresses and secrets, and the log of deliveries (docs/webhooks.md).

The webhook fields of a single request are in api/work/common_fields.py."""
