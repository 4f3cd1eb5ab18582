"""Usage: what an account has used, in all, by day, route or key, and line by line."""
