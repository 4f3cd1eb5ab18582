"""Marks: says what made a file, and gives receipts."""

COMMANDS = {"verify": "capabilities.marks.commands"}
