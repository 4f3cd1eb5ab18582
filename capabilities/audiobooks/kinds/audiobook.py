"""Audiobook: speaks the chapters of a book, a passage an item, on whatever pools there are."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from capabilities.audiobooks.kinds.passages import passages_of, prices_of
from capabilities.speech.kinds.fields import (
    CHARACTERS_PER_CREDIT,
    AudioFile,
    LanguageCode,
    SpokenInput,
    VoiceName,
    is_auto,
)
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.voices.offered_voices import offered_voices
from pipeline.errors import InvalidRequest
from pipeline.kind import NOT_BLANK, Answer, FinishedItem, Kind, Limits, NewItem, Origin, Request, Response
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers

MAX_CHARACTERS, MAX_CHAPTERS, MAX_TITLE = 2_000_000, 2_000, 300
MAX_BODY_BYTES = 32 * 2**20
#: How long its passages are kept, and how long it may take.
KEEP_FOR, DEADLINE = timedelta(days=30), timedelta(days=7)
#: Characters of a chapter whose writing system is checked against the voice.
CHECKED_CHARACTERS = 20_000

Title = Annotated[str, StringConstraints(max_length=MAX_TITLE)]


class BookTooLong(InvalidRequest):
    """The book has more text than an audiobook may have."""

    code = "book_too_long"
    field = "chapters"


class BookMissing(InvalidRequest):
    """The request names no text."""

    code = "book_missing"
    field = "plan"
    message = "Which book? Send a plan of POST /audiobooks/plan, or chapters with title and text."


class BookChapter(BaseModel):
    """A chapter: its title and its text, in which blank lines part paragraphs."""

    title: Title = ""
    text: str = Field(json_schema_extra=NOT_BLANK)


class AudiobookRequest(Request):
    """A book, by its plan or by its chapters, and the voice that reads it."""

    plan: UUID | None = Field(None, description="A plan of POST /audiobooks/plan.")
    only: list[int] | None = Field(None, min_length=1, description="Numbers of the plan's chapters. Default: all.")
    chapters: list[BookChapter] | None = Field(
        None, min_length=1, max_length=MAX_CHAPTERS, description="The chapters themselves, in place of a plan."
    )
    title: Title = Field("", description="Default: the plan's.")
    author: Title = Field("", description="Default: the plan's.")
    language: LanguageCode | None = Field(None, description="Language code; auto detects it passage by passage.")
    voice_name: VoiceName | None = Field(
        None,
        validation_alias=AliasChoices("voice_name", "voice"),
        description="A voice of GET /tts/voices, by its id or name.",
    )
    speed: float = Field(1.0, ge=0.25, le=4.0, description="Speaking rate.")
    reuse: UUID | None = Field(
        None, description="An earlier audiobook: passages that have not changed are taken from it, free of charge."
    )


class PassageInput(SpokenInput):
    """A passage: what a worker speaks; `sound` and `engine` are those of an equal one in an earlier audiobook."""

    has_strict_marks: ClassVar[bool] = False

    chapter: int
    title: str = ""
    book: str = ""
    author: str = ""
    sound: AudioFile | None = None
    engine: str | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides how it sounds."""
        said = [self.text, self.language, self.voice_name, self.speed, [entry.model_dump() for entry in self.lexicon]]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @property
    def paragraph_gap(self) -> timedelta:
        """The silence between paragraphs."""
        return timedelta(milliseconds=700)


class AudiobookCreated(BaseModel):
    """The receipt of a new audiobook."""

    job_id: UUID
    passages: int
    credits_held: int


class SpokenChapter(BaseModel):
    """A chapter of an audiobook."""

    number: int
    title: str
    seconds: float
    passages: int
    failed: int


class SpokenBook(BaseModel):
    """An audiobook whose passages have been spoken, or have failed."""

    audiobook: str = Field(description="Its job: POST /audiobooks/{job_id}/files makes a file of it.")
    title: str
    author: str
    chapters: list[SpokenChapter]
    seconds: float
    voices: list[str]
    warnings: list[str]
    failed: int = Field(description="Passages; send the book again with `reuse` to speak them alone.")
    credits_used: int


class Audiobook(Kind[AudiobookRequest, PassageInput, AudioFile]):
    """POST /audiobooks."""

    name = "audiobook"
    queue = "synthesis"
    routes = ("/audiobooks",)
    handler = "capabilities.audiobooks.handlers.passage:PassageHandler"
    unit = "passages"
    summary = "Speak a book of up to 2,000,000 characters; answers at once, with a job."
    example: ClassVar[Mapping[str, Any]] = {
        "title": "A short book",
        "chapters": [{"title": "One", "text": "It begins."}, {"title": "Two", "text": "And it ends."}],
    }
    bulky = frozenset({"chapters"})
    origins: ClassVar[Mapping[str, Origin]] = {"": "synthetic"}
    answer = Answer(model=SpokenBook, receipt=AudiobookCreated, shows_inputs=True)
    limits = Limits(body_bytes=MAX_BODY_BYTES, deadline=DEADLINE, keep_for=KEEP_FOR, slice_size=4)

    def check(self, request: AudiobookRequest, offers: Offers) -> None:
        """Refuse a book without text or with too much, and an unknown voice or language. Raises InvalidRequest."""
        if not request.chapters:
            raise BookMissing
        characters = sum(len(chapter.text) for chapter in request.chapters)
        if not any(chapter.text.strip() for chapter in request.chapters):
            raise InvalidRequest("The chapters are empty. Send at least one word.", code="text_empty", field="chapters")
        if characters > MAX_CHARACTERS:
            raise BookTooLong(
                f"The book has {characters:,} characters; the limit is {MAX_CHARACTERS:,}. Send it in parts.",
                text_length=characters,
                max_length=MAX_CHARACTERS,
            )
        voices = offered_voices(offers)
        is_detected = is_auto(request.language)
        voice = voices.pick(
            voice_name=request.voice_name,
            language=None if is_detected else request.language,
            characters=characters,
        )
        if not is_detected:
            for chapter in request.chapters:
                check_readable(chapter.text[:CHECKED_CHARACTERS], voice, voices)

    def items(self, request: AudiobookRequest) -> list[NewItem[PassageInput]]:
        """Return an item for each passage; together they cost what one text of their length costs."""
        said = [
            (number, chapter.title, text)
            for number, chapter in enumerate(request.chapters or (), start=1)
            for text in passages_of(chapter.text)
        ]
        prices = prices_of([len(text) for _, _, text in said], CHARACTERS_PER_CREDIT)
        how: dict[str, Any] = {"language": request.language, "voice_name": request.voice_name, "speed": request.speed}
        how = {name: value for name, value in how.items() if name in request.model_fields_set}
        found = []
        for place, ((number, title, text), price) in enumerate(zip(said, prices, strict=True)):
            book = {"book": request.title, "author": request.author} if place == 0 else {}
            found.append(NewItem(PassageInput(text=text, chapter=number, title=title, **book, **how), price))
        return found

    def receipt(self, job: Job) -> Response:
        created = AudiobookCreated(job_id=job.id, passages=job.items_total, credits_held=job.credits_held)
        return Response(created.model_dump(mode="json"), status=201, headers={"Location": f"/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[FinishedItem[PassageInput, AudioFile]]) -> Response:
        """Return the chapters with their lengths."""
        chapters: dict[int, SpokenChapter] = {}
        for item in items:
            given = item.given
            chapter = chapters.setdefault(
                given.chapter, SpokenChapter(number=given.chapter, title=given.title, seconds=0, passages=0, failed=0)
            )
            chapter.passages += 1
            chapter.failed += item.output is None
            chapter.seconds += item.output.duration_seconds if item.output else 0
        sounds = [item.output for item in items if item.output]
        shown = SpokenBook(
            audiobook=str(job.id),
            title=items[0].given.book,
            author=items[0].given.author,
            chapters=list(chapters.values()),
            seconds=round(sum(chapter.seconds for chapter in chapters.values()), 1),
            voices=sorted({sound.voice for sound in sounds if sound.voice}),
            warnings=sorted({sound.warning for sound in sounds if sound.warning}),
            failed=len(items) - len(sounds),
            credits_used=job.credits_captured,
        )
        return Response(shown.model_dump())
