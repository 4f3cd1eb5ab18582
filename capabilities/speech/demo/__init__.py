"""The demo of speech: the music that it mixes in."""

from pathlib import Path

#: Five seconds of a chord.
FILES = {"music": Path(__file__).with_name("music.ogg")}
