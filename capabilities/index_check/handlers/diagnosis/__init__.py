"""Diagnosis: why a page may be in no results. It starts in diagnosing.py."""
