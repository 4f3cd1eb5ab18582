"""The demo of transcription: its recordings, and what is heard in them."""

from pathlib import Path

from capabilities.transcription.kinds.transcription import EXAMPLE_URL, LongTranscription, Transcription
from scripts.demo.steps import Answered

#: Eight seconds of speech; see tests/recordings/README.md.
FILES = {"audio": Path(__file__).with_name("recording.ogg"), "@spanish": Path(__file__).with_name("recording-es.ogg")}
SERVED = {EXAMPLE_URL: FILES["audio"]}
MORE = {Transcription.name: {"-es": {"audio": "@spanish"}}}


async def _show(answered: Answered) -> str:
    """Return the text and its language."""
    return f"{answered.document['language']}: {answered.document['text']}"


SHOWN = {Transcription.name: _show, LongTranscription.name: _show}
