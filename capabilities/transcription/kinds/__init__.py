"""The kinds of transcription."""

from capabilities.transcription.kinds.transcription import LongTranscription, Transcription, TranscriptionStream

KINDS = (Transcription(), TranscriptionStream(), LongTranscription())
