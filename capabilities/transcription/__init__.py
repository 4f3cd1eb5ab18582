"""Transcription: writes down what is said in recordings."""

FAMILIES = {"transcription": "capabilities.transcription.engines"}
COMMANDS = {"transcribe": "capabilities.transcription.commands"}
