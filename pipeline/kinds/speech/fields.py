"""Speech: what the kinds that speak have in common: fields, limits and price."""

from typing import Annotated

from pydantic import Field, StringConstraints

from pipeline.errors import InvalidRequest
from pipeline.kind import Request, Response, Stored
from pipeline.kinds.speech.offered_voices import offered_voices
from pipeline.offers import Offers

#: Characters that one credit buys (docs/api.md, Limits).
CHARACTERS_PER_CREDIT = 1_000


class SpokenRequest(Request):
    """A text, and the voice that speaks it."""

    text: str = Field(description="What is spoken.")
    language: Annotated[str, StringConstraints(min_length=1, max_length=35)] | None = Field(
        None, description="Language code such as en, es, fr; the voice's own, or en, when it is not sent."
    )
    voice_name: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = Field(
        None, description="A voice of GET /tts/voices."
    )
    speed: float = Field(1.0, ge=0.25, le=4.0, description="Speaking rate; below 1.0 slower, above 1.0 faster.")
    pitch: float = Field(0.0, ge=-20, le=20, description="Semitones up or down.")

    @property
    def gain_db(self) -> float:
        """How much louder it shall be, in decibels."""
        return 0.0


class AudioFile(Stored):
    """A sound that was made, and the voice that speaks in it."""

    artifact: str
    duration_seconds: float
    voice: str | None = None


class TextTooLong(InvalidRequest):
    """The text is longer than the route may speak."""

    code = "text_too_long"


def speech_credits(characters: int) -> int:
    """Return the price of so many characters: a credit for each started 1,000."""
    return max(1, -(-characters // CHARACTERS_PER_CREDIT))


def check_speech(request: SpokenRequest, offers: Offers, *, route: str, max_characters: int, instead: str) -> None:
    """Refuse an empty or too long text, and a voice or language that no engine has. Raises InvalidRequest."""
    if not request.text.strip():
        raise InvalidRequest("The text is empty. Send at least one word.", code="text_empty", field="text")
    length = len(request.text)
    if length > max_characters:
        raise TextTooLong(
            f"The text has {length:,} characters; {route} takes at most {max_characters:,}. {instead}",
            text_length=length,
            max_length=max_characters,
        )
    offered_voices(offers).pick(voice_name=request.voice_name, language=request.language)


def audio_response(file: AudioFile, content_type: str, filename: str) -> Response:
    """Return a sound as a file to be kept."""
    return Response(
        artifacts=[file.artifact],
        content_type=content_type,
        headers={"Content-Disposition": f"attachment; filename={filename}"},
    )
