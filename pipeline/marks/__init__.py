"""Marks: who signs what is made here, and receipts. docs/marking.md explains them to operators."""
