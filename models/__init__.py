"""The tables, as SQL: migrations make them, and say what each column holds."""
