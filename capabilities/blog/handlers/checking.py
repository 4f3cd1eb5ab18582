"""Checking: whether a generated picture shows its post's subject, and no gibberish."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from capabilities.blog.engines.pictures import Brief
from capabilities.blog.engines.pictures.drawn.topics import subject_of, subjects_in
from capabilities.blog.handlers.covers import Cover
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from workers.engines.ocr import Reader, TextLine
from workers.media.images.reading import read_picture

log = get_logger(__name__)

#: Lines with a lower score are mostly no text.
LEAST_SCORE = 0.9
#: Words missing from title and summary that make gibberish; one may be a street sign.
STRANGE_WORDS = 2
#: Shorter words are no evidence. Words that begin alike mean the same: bake, baker, baking.
SHORTEST_WORD, STEM = 4, 5

#: Returns the lines of text on a picture.
Read = Callable[[Image.Image], Sequence[TextLine]]


@dataclass(frozen=True, slots=True)
class PictureCheck:
    """Checks the pictures of one post; `read` finds the text on them."""

    brief: Brief
    read: Read
    max_pixels: int
    max_side: int

    def fault_of(self, cover: Cover) -> str | None:
        """Return the fault of a generated picture, in words, or None."""
        if cover.painted.is_seen and cover.describer is None:
            return None
        if cover.describer is not None and not self._shows_subject(cover.painted.description):
            return "shows nothing of the subject"
        return "has letters that say nothing" if self._has_gibberish(cover) else None

    def _shows_subject(self, description: str) -> bool:
        """Return whether a description has a sign of the subject; True if the subject is no thing."""
        brief = self.brief
        subject = subject_of(brief.title, (), brief.language)
        if subject is None or subject in subjects_in(description, brief.language):
            return True
        wanted = _stems(" ".join((brief.title, brief.summary, *brief.tags)))
        return bool(wanted & _stems(description))

    def _has_gibberish(self, cover: Cover) -> bool:
        try:
            picture = read_picture(cover.painted.data, max_pixels=self.max_pixels, max_side=self.max_side)
            lines = self.read(picture.image)
        except (PressroomError, ValueError) as error:
            log.warning("text on a generated picture not read", error=str(error))
            return False
        known = _stems(f"{self.brief.title} {self.brief.summary}")
        text = " ".join(line.text for line in lines if line.score >= LEAST_SCORE)
        return len(_stems(text) - known) >= STRANGE_WORDS


def _stems(text: str) -> frozenset[str]:
    """Return the beginnings of a text's words."""
    return frozenset(word[:STEM] for word in re.findall(r"\w+", text.lower()) if len(word) >= SHORTEST_WORD)


def make_reader(_: object) -> Reader:
    """Return the reader that the posts of a process share."""
    return Reader()
