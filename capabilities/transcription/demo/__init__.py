"""The demo of transcription: a recording."""

from pathlib import Path

#: Eight seconds of speech; tests/recordings/README.md says where it comes from.
FILES = {"audio": Path(__file__).with_name("recording.ogg")}
