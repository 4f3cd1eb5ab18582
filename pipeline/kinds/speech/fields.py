"""Speech fields: what the kinds that speak have in common: fields, check, price and answer."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field, StringConstraints

from pipeline.errors import InvalidRequest
from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, NewItem, Request, Response, Stored
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


AnySpoken = TypeVar("AnySpoken", bound=SpokenRequest)


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


class Spoken:
    """What the kinds that speak one text declare alike: its check, its item and its price."""

    queue: ClassVar[str] = "synthesis"
    unit: ClassVar[str] = "chunks"
    bulky: ClassVar[frozenset[str]] = frozenset({"text"})
    #: Longest text, in Unicode code points (docs/speech.md), and what to do with a longer one.
    max_characters: ClassVar[int]
    remedy: ClassVar[str] = "Split the text into parts and send them one by one."
    #: Credits beside those of the speech.
    more_credits: ClassVar[int] = 0

    routes: ClassVar[tuple[str, ...]]

    def check(self, request: SpokenRequest, offers: Offers) -> None:
        """Refuse an empty or too long text, and a voice or language that no engine has. Raises InvalidRequest."""
        if not request.text.strip():
            raise InvalidRequest("The text is empty. Send at least one word.", code="text_empty", field="text")
        length = len(request.text)
        if length > self.max_characters:
            raise TextTooLong(
                f"The text has {length:,} characters; {self.routes[0]} takes at most {self.max_characters:,}. "
                f"{self.remedy}",
                text_length=length,
                max_length=self.max_characters,
            )
        offered_voices(offers).pick(voice_name=request.voice_name, language=request.language)

    def items(self, request: AnySpoken) -> list[NewItem[AnySpoken]]:
        """Return the whole text as one item."""
        return [NewItem(request, speech_credits(len(request.text)) + self.more_credits)]


class OneFile:
    """What the kinds declare alike whose answer is one file of sound."""

    answer: ClassVar[Answer] = Answer("audio/mpeg")
    filename: ClassVar[str]

    def response(self, job: Job, items: Sequence[FinishedItem[Any, AudioFile]]) -> Response:
        """Return the file."""
        return Response(
            artifacts=[items[0].delivered.artifact],
            content_type=self.answer.content_type,
            headers={"Content-Disposition": f"attachment; filename={self.filename}"},
        )
