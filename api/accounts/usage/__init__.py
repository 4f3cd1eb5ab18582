"""Usage: an account's usage in total, by day, route or key, and its ledger."""
