"""Audiobooks: turns manuscripts into long recordings with chapters."""

COMMANDS = {"audiobook": "capabilities.audiobooks.commands"}
