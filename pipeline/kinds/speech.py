"""Speech: a text is spoken and comes back as one WAV file."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints

from pipeline.errors import InvalidRequest
from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Request, Response
from pipeline.offers import Offers

#: Longest text of one request, in Unicode code points (SPEC.md, POST /tts).
MAX_CHARACTERS = 10_000
#: Characters that one credit buys (SPEC.md, Limits).
CHARACTERS_PER_CREDIT = 1_000


class SpeechRequest(Request):
    """What is to be spoken, and how."""

    text: str = Field(description=f"What is spoken, at most {MAX_CHARACTERS:,} characters.")
    language: Annotated[str, StringConstraints(min_length=1, max_length=35)] | None = Field(
        None, description="Language code such as en, es, fr; the voice's own, or en, when it is not sent."
    )
    voice_name: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = Field(
        None, description="A voice of GET /tts/voices."
    )
    speed: float = Field(1.0, ge=0.25, le=4.0, description="Speaking rate; below 1.0 slower, above 1.0 faster.")
    pitch: float = Field(0.0, ge=-20, le=20, description="Semitones up or down.")
    volume_gain_db: float = Field(0.0, ge=-96, le=16, description="Gain in decibels; a limiter keeps it from clipping.")


def speech_credits(text: str) -> int:
    """Return the price of a text: a credit for each started 1,000 characters."""
    return max(1, -(-len(text) // CHARACTERS_PER_CREDIT))


class Speech(Kind[SpeechRequest]):
    """POST /tts."""

    name = "speech"
    queue = "synthesis"
    routes = ("/tts",)
    handler = "workers.handlers.speech:SpeechHandler"
    unit = "texts"
    summary = "Speak a text of up to 10,000 characters; the answer is a WAV file."
    example: ClassVar[dict[str, Any]] = {"text": "Hello! This is Pressroom, speaking from your own machine."}
    bulky: ClassVar[frozenset[str]] = frozenset({"text"})
    answer_type = "audio/wav"
    request = SpeechRequest

    def check(self, request: SpeechRequest, offers: Offers) -> None:
        """Refuse a text that is empty or too long, and a voice or language that no engine has."""
        length = len(request.text)
        if not request.text.strip():
            raise InvalidRequest("The text is empty. Send at least one word.", code="text_empty", field="text")
        if length > MAX_CHARACTERS:
            raise InvalidRequest(
                f"The text has {length:,} characters; /tts takes at most {MAX_CHARACTERS:,}. Use /tts/batch.",
                code="text_too_long",
                text_length=length,
                max_length=MAX_CHARACTERS,
            )
        offers.pick_voice(voice_name=request.voice_name, language=request.language)

    def parts(self, request: SpeechRequest) -> list[Part]:
        """Return the whole text as one item."""
        return [Part(request.model_dump(exclude_unset=True), speech_credits(request.text))]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the WAV file."""
        output = items[0].output or {}
        return Response(
            artifact=output["artifact"],
            content_type="audio/wav",
            headers={"Content-Disposition": "attachment; filename=output.wav"},
        )
