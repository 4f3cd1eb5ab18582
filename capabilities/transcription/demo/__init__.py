"""The demo of transcription: its recording."""

from pathlib import Path

#: Eight seconds of speech; see tests/recordings/README.md.
FILES = {"audio": Path(__file__).with_name("recording.ogg")}
