"""Transcription: turns recordings into text."""

FAMILIES = {"transcription": "capabilities.transcription.engines"}
COMMANDS = {"transcribe": "capabilities.transcription.commands"}
