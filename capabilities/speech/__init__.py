"""Speech: reads texts aloud, with music if wanted."""

FAMILIES = {"synthesis": "capabilities.speech.engines"}
COMMANDS = {"say": "capabilities.speech.commands.speech"}
