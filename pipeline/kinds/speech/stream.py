"""Speech stream: a text is spoken chunk by chunk, and the MP3 is sent while it is being made."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, Response
from pipeline.kinds.speech.fields import Spoken, SpokenInput, SpokenRequest, voice_header
from pipeline.streams import Parts


class SpeechStreamRequest(SpokenRequest):
    """What is to be spoken, how, and how much of it at a time."""

    chunk_size: int = Field(200, ge=50, le=1_000, description="Characters a chunk; smaller ones answer sooner.")

    #: A stream has no pauses but those that marks ask for.
    has_paragraphs: ClassVar[bool] = False


class SpeechStreamInput(SpeechStreamRequest, SpokenInput):
    """The same as it is stored."""


class SpeechStream(Spoken, Kind[SpeechStreamRequest, SpeechStreamInput, Parts]):
    """POST /tts/stream."""

    name = "speech_stream"
    routes = ("/tts/stream",)
    handler = "workers.handlers.speech.stream:SpeechStreamHandler"
    summary = "Speak a text of up to 50,000 characters; the MP3 is sent while it is being made."
    example = {"text": "This is sent while it is being spoken. You hear it at once."}
    max_characters = 50_000
    streams = True
    answer = Answer("audio/mpeg")

    def response(self, job: Job, items: Sequence[FinishedItem[SpeechStreamInput, Parts]]) -> Response:
        """Return the whole MP3, made of the parts that were streamed."""
        parts = items[0].delivered
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)],
            content_type="audio/mpeg",
            headers={"Content-Disposition": "inline", **voice_header(parts.voice)},
        )
