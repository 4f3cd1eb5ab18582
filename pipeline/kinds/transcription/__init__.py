"""Transcription: what is said in recordings is written down."""

from pipeline.kinds.transcription.stream import TranscriptionStream
from pipeline.kinds.transcription.transcription import Transcription

KINDS = (Transcription(), TranscriptionStream())
