"""Transcription stream: what is said in a recording, sent as text while it is being heard."""

from collections.abc import Sequence

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, Response
from pipeline.kinds.transcription.transcription import Recorded, RecordingInput, RecordingRequest
from pipeline.kinds.transcription.transcripts import CONTENT_TYPES
from pipeline.streams import Parts


class TranscriptionStreamRequest(RecordingRequest):
    """What is known of a recording whose text is sent piece by piece."""


class TranscriptionStream(Recorded, Kind[TranscriptionStreamRequest, RecordingInput, Parts]):
    """POST /tts/stt/stream."""

    name = "transcription_stream"
    routes = ("/tts/stt/stream",)
    handler = "workers.handlers.transcription.stream:TranscriptionStreamHandler"
    summary = "Write down what is said in a recording; the text is sent while it is being heard."
    streams = True
    answer = Answer("text/plain")

    def response(self, job: Job, items: Sequence[FinishedItem[RecordingInput, Parts]]) -> Response:
        """Return the whole text, made of the parts that were streamed."""
        parts = items[0].delivered
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)], content_type=CONTENT_TYPES["text"]
        )
