"""Speech stream: speaks a text chunk by chunk, and sends the sound while it is made."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from capabilities.speech.kinds.fields import SpeechKind, SpokenInput, SpokenRequest
from pipeline.audio_formats import AUDIO_FORMATS, CONTENT_TYPES, MEDIA_TYPES, AudioFormat
from pipeline.kind import WHOLE, Answer, FinishedItem, Kind, Response, fitting_headers
from pipeline.lifecycle.jobs import Job
from pipeline.storage.streams import Parts


class SpeechStreamRequest(SpokenRequest):
    """A text, its voice, its encoding and the size of its chunks."""

    chunk_size: Annotated[int, Field(ge=50, le=1_000), WHOLE] = Field(
        200, description="Characters per chunk; smaller chunks answer sooner."
    )
    response_format: AudioFormat = Field(
        "mp3", description="The encoding. opus comes in Ogg, aac in ADTS; pcm is 16-bit little-endian mono at 24 kHz."
    )

    #: Only marks make pauses in a stream.
    has_paragraphs: ClassVar[bool] = False


class SpeechStreamInput(SpeechStreamRequest, SpokenInput):
    """A SpeechStreamRequest as it is stored."""


class SpeechStream(SpeechKind, Kind[SpeechStreamRequest, SpeechStreamInput, Parts]):
    """POST /tts/stream."""

    name = "speech_stream"
    routes = ("/tts/stream",)
    handler = "capabilities.speech.handlers.stream:SpeechStreamHandler"
    summary = "Speak a text of up to 50,000 characters; the MP3 is sent while it is made."
    example = {"text": "This is sent while it is being spoken. You hear it at once."}
    max_characters = 50_000
    streams = True
    answer = Answer("audio/mpeg", alternatives=tuple(sorted({*MEDIA_TYPES.values()} - {"audio/mpeg"})))

    def response(self, job: Job, items: Sequence[FinishedItem[SpeechStreamInput, Parts]]) -> Response:
        parts = items[0].delivered
        wanted = job.request.get("response_format")
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)],
            content_type=CONTENT_TYPES[wanted if wanted in AUDIO_FORMATS else "mp3"],
            headers={
                "Content-Disposition": "inline",
                **fitting_headers({"X-Voice": parts.voice, "X-Warning": parts.warning}),
            },
        )
