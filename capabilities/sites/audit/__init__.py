"""Audit: the pictures of pages, judged by W3C's alt decision tree (w3.org/WAI/tutorials/images/decision-tree)."""
