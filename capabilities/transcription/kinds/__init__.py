"""Transcription: what is said in recordings is written down."""

from capabilities.transcription.kinds.stream import TranscriptionStream
from capabilities.transcription.kinds.transcription import Transcription

KINDS = (Transcription(), TranscriptionStream())
