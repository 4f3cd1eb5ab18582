"""Monitors: index checks that are made again every day or week, and the list of what has changed between them.

A monitor is a schedule. Its checks are index jobs as others are, made and paid by its account (docs/indexing.md,
Monitors).
"""
