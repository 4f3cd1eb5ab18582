"""Audiobook: speaks the chapters of a book, a passage an item, on whatever pools there are."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from capabilities.audiobooks.kinds.cast import check_tags, parts_of, plain, written
from capabilities.audiobooks.kinds.passages import passages_of, prices_of
from capabilities.audiobooks.settings import AudiobookSettings
from capabilities.speech.kinds.fields import (
    CHARACTERS_PER_CREDIT,
    SPEAKING,
    AudioFile,
    LanguageCode,
    SpokenInput,
    VoiceName,
    is_auto,
)
from capabilities.speech.kinds.lexicon import LexiconEntry
from capabilities.speech.kinds.pauses import PauseInvalid, passages
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.voices.offered_voices import OfferedVoices, offered_voices
from pipeline.errors import InvalidRequest
from pipeline.kind import NOT_BLANK, WHOLE, Answer, FinishedItem, Kind, NewItem, Origin, Request, Response
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Offers
from pipeline.settings import Settings

MAX_CHARACTERS, MAX_CHAPTERS, MAX_TITLE = 2_000_000, 2_000, 300
MAX_BODY_BYTES = 32 * 2**20
#: Most silence by pauses of a book.
MAX_SILENCE = timedelta(hours=5)
#: Characters of a chapter whose writing system is checked against the voice.
CHECKED_CHARACTERS = 20_000
#: Most characters of a passage that was changed, and most voices and words of a book's own.
MAX_PASSAGE, MAX_CAST, MAX_LEXICON = 4_000, 50, 200

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
    language: LanguageCode | None = Field(None, description="Default: the book's.")


class AudiobookRequest(Request):
    """A book, by its plan or by its chapters, and the voice that reads it."""

    plan: UUID | None = Field(None, description="A plan of POST /audiobooks/plan.")
    only: list[Annotated[int, WHOLE]] | None = Field(
        None, min_length=1, description="Numbers of the plan's chapters. Default: all."
    )
    chapters: list[BookChapter] | None = Field(
        None, min_length=1, max_length=MAX_CHAPTERS, description="The chapters themselves, in place of a plan."
    )
    title: Title = Field("", description="Default: the plan's.")
    author: Title = Field("", description="Default: the plan's.")
    language: LanguageCode | None = Field(
        None, description="Language code; auto detects it passage by passage. Default: each chapter's of the plan."
    )
    voice_name: VoiceName | None = Field(
        None,
        validation_alias=AliasChoices("voice_name", "voice"),
        description="A voice of GET /tts/voices, by its id or name.",
    )
    speed: float = Field(1.0, ge=0.25, le=4.0, description="Speaking rate.")
    cast: dict[Annotated[str, StringConstraints(min_length=1, max_length=100)], VoiceName] | None = Field(
        None, max_length=MAX_CAST, description='Voices by speaker, whom <voice name="…"> in the text names.'
    )
    dialogue: bool = Field(
        False, description="Give the cast the quotations of paragraphs that say who speaks, as in “…,” said Emma."
    )
    lexicon: list[LexiconEntry] = Field(
        [], max_length=MAX_LEXICON, description="Words of this book, in addition to the account's lexicon."
    )
    reuse: UUID | None = Field(
        None, description="An earlier audiobook: passages that have not changed are taken from it, free of charge."
    )


class BookChanges(Request):
    """Passages of an audiobook with other texts."""

    passages: list["ChangedPassage"] = Field(
        [], max_length=1_000, description="Empty: speak the missing passages, after a pause or a failure."
    )


class ChangedPassage(BaseModel):
    """The new text of a passage."""

    number: Annotated[int, WHOLE] = Field(ge=1)
    text: Annotated[str, StringConstraints(max_length=MAX_PASSAGE)] = Field(json_schema_extra=NOT_BLANK)


class SpokenPassage(AudioFile):
    """A spoken passage. `script` has its text and the times of its sentences, `cover` is the book's picture."""

    #: The engines that spoke its parts.
    engines: tuple[str, ...] = ()
    script: str = ""
    cover: str | None = None
    language: str = ""


class PassageInput(SpokenInput):
    """A passage: what a worker speaks; `sound` is that of an equal one in an earlier audiobook."""

    has_strict_marks: ClassVar[bool] = False

    chapter: int
    title: str = ""
    book: str = ""
    author: str = ""
    sound: SpokenPassage | None = None
    #: The book's cover, for its first passage to keep.
    cover: str | None = None

    @property
    def spoken_text(self) -> str:
        """The text without tags and marks."""
        return plain(super().spoken_text)

    def parts(self, voices: OfferedVoices) -> list["PassageInput"]:
        """Return its parts, each with its own voice and language."""
        given = self.model_dump(exclude={"sound", "text"}, exclude_unset=True)
        parts = []
        for part in parts_of(self.text):
            is_tagged = part.voice is not None or part.language is not None
            language = part.language or (self.language if voices.alias(part.voice) else None)
            own = {"language": language, "voice_name": part.voice} if is_tagged else {}
            parts.append(PassageInput.model_validate({**given, "text": part.text, **own}))
        return parts

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


class Audiobook(Kind[AudiobookRequest, PassageInput, SpokenPassage]):
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
    limits = replace(SPEAKING, body_bytes=MAX_BODY_BYTES, slice_size=4)

    def configured(self, settings: Settings) -> "Audiobook":
        """Return the kind with the deadline and the retention of the settings."""
        kind, own = type(self)(), settings.of(AudiobookSettings)
        kind.limits = replace(
            self.limits, deadline=timedelta(days=own.deadline_days), keep_for=timedelta(days=own.keep_days)
        )
        return kind

    def check(self, request: AudiobookRequest, offers: Offers) -> None:
        """Refuse a book without text or with too much, and an unknown voice or language. Raises InvalidRequest."""
        if not request.chapters:
            raise BookMissing
        characters = sum(len(chapter.text) for chapter in request.chapters)
        if not any(plain(chapter.text).strip() for chapter in request.chapters):
            raise InvalidRequest("The chapters are empty. Send at least one word.", code="text_empty", field="chapters")
        if characters > MAX_CHARACTERS:
            raise BookTooLong(
                f"The book has {characters:,} characters; the limit is {MAX_CHARACTERS:,}. Send it in parts.",
                text_length=characters,
                max_length=MAX_CHARACTERS,
            )
        if request.dialogue and not request.cast:
            raise InvalidRequest('dialogue needs a cast, such as {"Emma": "Heart"}.', code="cast_missing", field="cast")
        for number, chapter in enumerate(request.chapters, start=1):
            check_tags(chapter.text, number)
        check_pauses(chapter.text for chapter in request.chapters)
        check_voices(offered_voices(offers), request)

    def items(self, request: Request) -> list[NewItem[PassageInput]]:
        """Return an item for each passage; together they cost what one text of their length costs.

        Those of BookChanges are made by their route, of the earlier book's."""
        if not isinstance(request, AudiobookRequest):
            return []
        said = [
            (number, chapter, text)
            for number, chapter in enumerate(request.chapters or (), start=1)
            for text in passages_of(written(chapter.text, request.cast or {}, has_dialogue=request.dialogue))
            if plain(text).strip()
        ]
        prices = prices_of([len(plain(text)) for _, _, text in said], CHARACTERS_PER_CREDIT)
        how = request.model_dump(include={"language", "voice_name", "speed"}, exclude_unset=True)
        found = []
        for place, ((number, chapter, text), price) in enumerate(zip(said, prices, strict=True)):
            more: dict[str, Any] = {"book": request.title, "author": request.author} if place == 0 else {}
            if request.language is None and chapter.language is not None:
                more["language"] = chapter.language
            given = PassageInput(text=text, chapter=number, title=chapter.title, **{**how, **more})
            found.append(NewItem(given, price))
        return found

    def can_repeat(self, given: Mapping[str, Any]) -> bool:
        """Return False: passages that failed make a new book with those that did not, by PATCH."""
        return False

    def receipt(self, job: Job) -> Response:
        created = AudiobookCreated(job_id=job.id, passages=job.items_total, credits_held=job.credits_held)
        return Response(created.model_dump(mode="json"), status=201, headers={"Location": f"/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[FinishedItem[PassageInput, SpokenPassage]]) -> Response:
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
            warnings=[*sorted({sound.warning for sound in sounds if sound.warning}), *_other_voices(items)],
            failed=len(items) - len(sounds),
            credits_used=job.credits_captured,
        )
        return Response(shown.model_dump())


def _other_voices(items: Sequence[FinishedItem[PassageInput, SpokenPassage]]) -> Iterator[str]:
    """Yield a warning for each voice that spoke some passages where another one spoke most, as when its engine failed.

    Passages with tags change their voices by intent."""
    spoken: dict[tuple[str | None, str], dict[str, list[int]]] = {}
    for number, item in enumerate(items, start=1):
        if item.output and item.output.voice and plain(item.given.text) == item.given.text:
            voices = spoken.setdefault((item.given.voice_name, item.output.language), {})
            voices.setdefault(item.output.voice, []).append(number)
    for voices in spoken.values():
        usual, *others = sorted(voices, key=lambda voice: -len(voices[voice]))
        for voice in others:
            numbers = voices[voice]
            shown = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
            yield (
                f"{voice} spoke {len(numbers):,} passages ({shown}) in place of {usual}. To speak them again, PATCH"
                " the audiobook with their texts."
            )


def fitted(request: AudiobookRequest, voices: OfferedVoices) -> AudiobookRequest:
    """Return the request with chapters tagged whose own language the book's voice does not speak."""
    if request.voice_name is None or request.language is not None or not voices.is_own_name(request.voice_name):
        return request
    voice = voices.pick(voice_name=request.voice_name, language=None, characters=1)
    chapters = []
    for chapter in request.chapters or ():
        language = chapter.language
        if language is None or voice.speaks(language.partition("-")[0]):
            chapters.append(chapter.model_copy(update={"language": None}))
        else:
            text = f'<lang xml:lang="{language}">{chapter.text}</lang>'
            chapters.append(chapter.model_copy(update={"language": None, "text": text}))
    return request.model_copy(update={"chapters": chapters})


def check_pauses(texts: Iterable[str]) -> None:
    """Refuse a book whose pauses would keep it from being joined. Raises PauseInvalid."""
    spoken = (written(text, {}, has_dialogue=False) for text in texts)
    pauses = (one.marks for text in spoken for one in passages(text, blank_lines=False, strict=False))
    if (silence := sum(pauses, timedelta())) > MAX_SILENCE:
        hours, most = silence / timedelta(hours=1), MAX_SILENCE / timedelta(hours=1)
        message = f"The book's pauses last {hours:,.1f} hours in all; the limit is {most:g}. Shorten them."
        raise PauseInvalid(message, field="chapters")


def check_voices(voices: OfferedVoices, request: AudiobookRequest) -> None:
    """Refuse voices and languages that are not there, and texts that their voice can't read. Raises InvalidRequest."""
    chapters = request.chapters or ()
    characters = sum(len(chapter.text) for chapter in chapters)
    cast = request.cast or {}
    for name in cast.values():
        voices.pick(voice_name=name, language=None, characters=characters)
    for chapter in chapters:
        language = None if is_auto(request.language) else request.language or chapter.language
        narrator = voices.pick(voice_name=request.voice_name, language=language, characters=characters)
        for part in parts_of(chapter.text):
            named = None if part.voice is None else cast.get(part.voice, part.voice)
            is_tagged = named is not None or part.language is not None
            # One of OpenAI's names speaks every language, and another voice its own.
            own = part.language or (language if voices.alias(named) else None)
            voice = voices.pick(voice_name=named, language=own, characters=characters) if is_tagged else narrator
            if is_tagged or not is_auto(request.language):
                check_readable(part.text[:CHECKED_CHARACTERS], voice, voices)
