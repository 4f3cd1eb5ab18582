"""Diagnosis: why a page may be in no results; diagnosing.py is the way in."""
