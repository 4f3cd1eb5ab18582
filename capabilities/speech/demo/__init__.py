"""The demo of speech: its background music."""

from pathlib import Path

#: Five seconds of a chord.
FILES = {"music": Path(__file__).with_name("music.ogg")}
