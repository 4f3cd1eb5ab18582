"""Books: plans of manuscripts, and audiobooks."""

from pressroom.documents import Document


class PlannedChapter(Document):
    """A chapter of a plan; `warning` says why no voice reads it well."""

    number: int
    title: str
    characters: int
    seconds: int
    language: str
    opening: str
    warning: str | None


class BookPlan(Document):
    """A manuscript's chapters, what is left out of them, and what an audiobook of it costs."""

    plan: str
    title: str
    author: str
    has_cover: bool
    chapters: list[PlannedChapter]
    left_out: dict[str, int]
    characters: int
    seconds: int
    credits: int


class AudiobookChapter(Document):
    """A chapter and how much of it is spoken."""

    number: int
    title: str
    characters: int
    passages: int
    spoken: int
    failed: int
    seconds: float


class AudiobookPassage(Document):
    """A passage; `audio_url` is its FLAC, once it is spoken."""

    number: int
    text: str
    state: str
    seconds: float | None
    audio_url: str | None


class Audiobook(Document):
    """An audiobook, also while it is spoken."""

    audiobook: str
    state: str
    title: str
    author: str
    passages: int
    spoken: int
    failed: int
    seconds: float
    seconds_left: int | None
    credits_used: int
    chapters: list[AudiobookChapter]
