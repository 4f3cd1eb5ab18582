"""Speech fields: the fields, check, price and answer that the kinds that speak share."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, Field, StringConstraints

from capabilities.speech.kinds.lexicon import LexiconEntry
from capabilities.speech.kinds.pauses import NONE, PARAGRAPH, Passage, check_silence, passages
from capabilities.speech.kinds.timestamps import SpokenTimes, timed_speech
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.voices.offered_voices import offered_voices
from pipeline.errors import InvalidRequest
from pipeline.kind import (
    NOT_BLANK,
    WHOLE,
    Answer,
    FinishedItem,
    Limits,
    NewItem,
    Origin,
    Request,
    Response,
    Stored,
    fitting_headers,
)
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers

#: The value that asks for the language to be detected.
AUTO = "auto"
#: No line takes an engine long, and a text that waits for its turn asks whether to stop.
SPEAKING = Limits(run=timedelta(hours=24), stall=timedelta(minutes=10))
#: Characters that one credit buys (docs/api.md, Limits).
CHARACTERS_PER_CREDIT = 1_000

LanguageCode = Annotated[str, StringConstraints(min_length=1, max_length=35)]
VoiceName = Annotated[str, StringConstraints(min_length=1, max_length=100)]


def is_auto(language: str | None) -> bool:
    """Return whether a language is to be detected."""
    return (language or "").strip().lower() == AUTO


class SpokenRequest(Request):
    """A text and the voice that speaks it."""

    text: str = Field(description="The text to speak. [pause 1.5s] makes a pause.")
    language: LanguageCode | None = Field(
        None, description="Language code such as en, es or fr; auto detects it. Default: the voice's language, or en."
    )
    voice_name: VoiceName | None = Field(
        None,
        validation_alias=AliasChoices("voice_name", "voice"),
        description="A voice of GET /tts/voices by its id or name, such as Heart, or one of OpenAI's, such as nova.",
    )
    speed: float = Field(1.0, ge=0.25, le=4.0, description="Speaking rate; below 1.0 slower, above 1.0 faster.")
    pitch: float = Field(0.0, ge=-20, le=20, description="Semitones up or down.")
    plain_text: bool = Field(False, description="Read all of it aloud: pause marks, front matter and code blocks.")

    #: True if blank lines are pauses.
    has_paragraphs: ClassVar[bool] = True
    #: True if a malformed pause mark is refused. If not, it is read aloud.
    has_strict_marks: ClassVar[bool] = True

    @property
    def gap(self) -> timedelta:
        """The silence between two chunks of the text."""
        return NONE

    @property
    def stated_language(self) -> str | None:
        """The language that was asked for; None if none was, or if it is to be detected."""
        return None if self.is_detected else self.language

    @property
    def is_detected(self) -> bool:
        """Return whether to detect the language."""
        return is_auto(self.language)

    @property
    def paragraph_gap(self) -> timedelta:
        """The silence at blank lines."""
        return self.gap + PARAGRAPH

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """The passages between the pauses of the text, found once. Raises PauseInvalid."""
        if self.plain_text:
            return (Passage(self.text, self.text),)
        return tuple(passages(self.text, blank_lines=self.has_paragraphs, strict=self.has_strict_marks))

    @property
    def spoken_text(self) -> str:
        """The text without its marks. Raises PauseInvalid."""
        return "".join(passage.text for passage in self.passages)


class Mp3Fields(Request):
    """The form of an MP3."""

    bit_rate: Annotated[int, WHOLE] = Field(192, ge=32, le=320, description="Kilobits a second of the MP3.")
    channels: Annotated[int, WHOLE] = Field(1, ge=1, le=2, description="1: mono; 2: the same sound on both sides.")


class SpokenInput(SpokenRequest):
    """A request as it is stored, with the entries of the account's lexicon at submission."""

    #: Releases before pause marks accepted any text.
    has_strict_marks: ClassVar[bool] = False

    lexicon: tuple[LexiconEntry, ...] = ()


class AudioFile(Stored):
    """A finished sound and the voice that speaks in it."""

    artifact: str
    duration_seconds: float
    voice: str | None = None
    warning: str | None = None
    times: SpokenTimes | None = None


class TextTooLong(InvalidRequest):
    """The text is longer than the route may speak."""

    code = "text_too_long"
    field = "text"


def speech_credits(characters: int) -> int:
    """Return the price of a text: one credit per started 1,000 characters."""
    return max(1, -(-characters // CHARACTERS_PER_CREDIT))


class SpeechKind:
    """The check, item and price of the kinds that speak one text."""

    queue: ClassVar[str] = "synthesis"
    unit: ClassVar[str] = "chunks"
    bulky: ClassVar[frozenset[str]] = frozenset({"text"})
    subject: ClassVar[str | None] = "text"
    #: Longest text, in Unicode code points (docs/speech.md), and the routes for longer ones, with their limits.
    max_characters: ClassVar[int]
    longer_routes: ClassVar[Mapping[str, int]] = {}
    origins: ClassVar[Mapping[str, Origin]] = {"": "synthetic"}
    #: A slow voice takes as long as people do, and texts take turns at it; the deadline ends those that take too long.
    limits: Limits = SPEAKING
    #: Credits on top of those for the speech.
    more_credits: ClassVar[int] = 0

    routes: ClassVar[tuple[str, ...]]

    @property
    def field_rules(self) -> Mapping[str, Mapping[str, Any]]:
        """The limits of the text, for the OpenAPI document."""
        return {"text": {**NOT_BLANK, "maxLength": self.max_characters}}

    def check(self, request: SpokenRequest, offers: Offers) -> None:
        """Refuse an empty, too long or unreadable text, invalid pauses, and an unknown voice or language.

        Raises InvalidRequest."""
        if not request.text.strip():
            raise InvalidRequest("The text is empty. Send at least one word.", code="text_empty", field="text")
        length = len(request.text)
        if length > self.max_characters:
            raise TextTooLong(
                f"The text has {length:,} characters; {self.routes[0]} takes at most {self.max_characters:,}. "
                f"{self._remedy(length)}",
                text_length=length,
                max_length=self.max_characters,
            )
        if not request.spoken_text.strip():
            message = "The text has only pauses and code. Send at least one word."
            raise InvalidRequest(message, code="text_empty", field="text")
        check_silence(request.passages, request.paragraph_gap)
        voices = offered_voices(offers)
        voice = voices.pick(voice_name=request.voice_name, language=request.stated_language, characters=length)
        # The worker detects the language, and checks the text then.
        if not request.is_detected or voices.is_own_name(request.voice_name):
            check_readable(request.spoken_text, voice, voices)

    def _remedy(self, length: int) -> str:
        """Return the remedy for a text that is too long for this route."""
        longer = (f"Use {route}." for route, limit in self.longer_routes.items() if length <= limit)
        return next(longer, "Split the text into parts and send them one by one.")

    def items(self, request: SpokenRequest) -> list[NewItem[Any]]:
        """Return the whole text as one item."""
        return [NewItem(request, speech_credits(len(request.text)) + self.more_credits)]


class OneFile:
    """The answer of the kinds that deliver one audio file."""

    answer: ClassVar[Answer] = Answer("audio/mpeg")
    shown_by: ClassVar[tuple[str, ...]] = ("artifact",)
    filename: ClassVar[str]

    def response(self, job: Job, items: Sequence[FinishedItem[Any, AudioFile]]) -> Response:
        """Return the file, or JSON with its timestamps and a link to it."""
        sound = items[0].delivered
        headers = fitting_headers({"X-Voice": sound.voice, "X-Warning": sound.warning})
        if sound.times is not None:
            media = timed_speech(
                sound.times,
                artifact=sound.artifact,
                expires_at=job.expires_at or items[0].ended_at,  # a kept job has none; its links are made anew
                content_type=self.answer.content_type,
                duration=round(sound.duration_seconds, 3),
                voice=sound.voice,
                engine=job.engine,
                warnings=[sound.warning] if sound.warning else [],
                origin="synthetic",
                credits_used=items[0].credits,
            )
            return Response(media, headers=headers)
        return Response(
            artifacts=[sound.artifact],
            content_type=self.answer.content_type,
            headers={"Content-Disposition": f"attachment; filename={self.filename}", **headers},
        )
