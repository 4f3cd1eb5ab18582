"""Speech: reads texts aloud, optionally over music."""

FAMILIES = {"synthesis": "capabilities.speech.engines"}
COMMANDS = {"say": "capabilities.speech.commands.speech"}
