"""Speech stream: a text is spoken chunk by chunk, and the MP3 is sent while it is being made."""

from collections.abc import Sequence

from pydantic import Field

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Response
from pipeline.kinds.speech.fields import SpokenRequest, check_speech, speech_credits
from pipeline.offers import Offers
from pipeline.streams import Parts

#: Longest text of one stream, in Unicode code points.
MAX_CHARACTERS = 50_000


class SpeechStreamRequest(SpokenRequest):
    """What is to be spoken, how, and how much of it at a time."""

    chunk_size: int = Field(200, ge=50, le=1_000, description="Characters a chunk; smaller ones answer sooner.")


class SpeechStream(Kind[SpeechStreamRequest, SpeechStreamRequest, Parts]):
    """POST /tts/stream."""

    name = "speech_stream"
    queue = "synthesis"
    routes = ("/tts/stream",)
    handler = "workers.handlers.speech.stream:SpeechStreamHandler"
    unit = "chunks"
    summary = "Speak a text of up to 50,000 characters; the MP3 is sent while it is being made."
    example = {"text": "This is sent while it is being spoken. You hear it at once."}
    bulky = frozenset({"text"})
    streams = True
    answer = Answer("audio/mpeg")

    def check(self, request: SpeechStreamRequest, offers: Offers) -> None:
        """Refuse a text that is empty or too long, and a voice or language that no engine has."""
        check_speech(
            request,
            offers,
            route="/tts/stream",
            max_characters=MAX_CHARACTERS,
            instead="Split the text into parts and send them one by one.",
        )

    def items(self, request: SpeechStreamRequest) -> list[NewItem[SpeechStreamRequest]]:
        """Return the whole text as one item."""
        return [NewItem(request, speech_credits(len(request.text)))]

    def response(self, job: Job, items: Sequence[FinishedItem[SpeechStreamRequest, Parts]]) -> Response:
        """Return the whole MP3, made of the parts that were streamed."""
        parts = items[0].delivered
        return Response(
            artifacts=[parts.key(number) for number in range(parts.count)],
            content_type="audio/mpeg",
            headers={"Content-Disposition": "inline"},
        )
