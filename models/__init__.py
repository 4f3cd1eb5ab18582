"""The tables, as migrations make them. Programs read and write rows by SQL (pipeline/lifecycle)."""
