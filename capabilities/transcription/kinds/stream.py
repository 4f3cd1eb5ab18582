"""Transcription stream: what is said in a recording, sent as text while it is being heard."""

from collections.abc import Sequence

from capabilities.transcription.kinds.transcription import Recorded, RecordingInput, RecordingRequest
from capabilities.transcription.kinds.transcripts import CONTENT_TYPES
from pipeline.kind import Answer, FinishedItem, Kind, Response
from pipeline.lifecycle.jobs import Job
from pipeline.storage.streams import Parts


class TranscriptionStreamRequest(RecordingRequest):
    """What is known of a recording whose text is sent piece by piece."""


class TranscriptionStream(Recorded, Kind[TranscriptionStreamRequest, RecordingInput, Parts]):
    """POST /tts/stt/stream."""

    name = "transcription_stream"
    routes = ("/tts/stt/stream",)
    handler = "capabilities.transcription.handlers.stream:TranscriptionStreamHandler"
    summary = "Write down what is said in a recording; the text is sent while it is being heard."
    streams = True
    answer = Answer("text/plain")

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, Parts]]) -> Response:
        """Return the whole text, made of the parts that were streamed."""
        parts = items[0].delivered
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)], content_type=CONTENT_TYPES["text"]
        )
