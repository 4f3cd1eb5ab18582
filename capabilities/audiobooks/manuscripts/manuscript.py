"""Manuscript: the chapters of a book as texts, and what was left out of them."""

from collections import Counter
from dataclasses import dataclass, field

from capabilities.audiobooks.kinds.audiobook import MAX_CHAPTERS, MAX_CHARACTERS, MAX_TITLE
from pipeline.errors import InvalidRequest


class ManuscriptUnreadable(InvalidRequest):
    """The file is not a manuscript that can be read."""

    code = "manuscript_unreadable"
    field = "manuscript"


class ManuscriptTooLong(InvalidRequest):
    """The manuscript has more text than an audiobook may have."""

    code = "manuscript_too_long"
    field = "manuscript"


@dataclass(slots=True)
class Chapter:
    """A chapter: its title, and its paragraphs, which blank lines part."""

    title: str
    paragraphs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(slots=True)
class Manuscript:
    """A book as it is read aloud; `left_out` counts tables, code, footnotes and pictures that are not."""

    title: str = ""
    author: str = ""
    language: str = ""
    chapters: list[Chapter] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    #: The picture of its cover, of any form.
    cover: bytes | None = None

    def checked(self) -> "Manuscript":
        """Return it without empty chapters. Raises ManuscriptUnreadable, ManuscriptTooLong."""
        self.chapters = [chapter for chapter in self.chapters if chapter.paragraphs]
        characters = sum(len(chapter.text) for chapter in self.chapters)
        if not characters:
            raise ManuscriptUnreadable(
                "The manuscript has no text. If it is scanned, its pages are pictures: recognise their text first."
            )
        if characters > MAX_CHARACTERS or len(self.chapters) > MAX_CHAPTERS:
            raise ManuscriptTooLong(
                f"The manuscript has {characters:,} characters in {len(self.chapters):,} chapters; the limits are"
                f" {MAX_CHARACTERS:,} and {MAX_CHAPTERS:,}. Send it in parts."
            )
        for chapter in self.chapters:
            chapter.title = chapter.title[:MAX_TITLE]
        return self
