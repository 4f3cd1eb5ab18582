"""The kinds of transcription."""

from capabilities.transcription.kinds.transcription import Transcription, TranscriptionStream

KINDS = (Transcription(), TranscriptionStream())
