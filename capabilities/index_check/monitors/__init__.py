"""Monitors: daily or weekly index checks, and the changes between them (docs/indexing.md, Monitors)."""
