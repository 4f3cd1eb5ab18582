"""The demo of speech: its background music, and a sentence that is not English."""

from pathlib import Path

from capabilities.speech.kinds.speech import Speech

#: Five seconds of a chord.
FILES = {"music": Path(__file__).with_name("music.ogg")}
#: The first such request lets a natural voice come; until then the answer says so.
MORE = {Speech.name: {"-es": {"text": "¡Hola! Así suena Pressroom en español.", "language": "es"}}}
