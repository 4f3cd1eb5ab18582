"""Marks: the signer of our files, and receipts. docs/marking.md explains them to operators."""
