"""Looking: a captioning model describes generated pictures; the description and OCR tell whether they are good."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from capabilities.alt_text.engines import Caption, Captioner, CaptionRequest, Mode
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.engines.pictures import Brief
from capabilities.blog.engines.pictures.drawn.topics import subject_of, subjects_in
from capabilities.blog.handlers.covers import Cover
from capabilities.blog.handlers.writing import LockOf, Stop, attempt
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from workers.engines.ocr import Reader, TextLine
from workers.media.images.reading import read_picture

log = get_logger(__name__)

#: One full sentence, its subject first.
MODE: Mode = "seo"

#: The engine without a model: it tells colours, text and charts, and nothing of a generated picture.
BLIND = "basic"

#: Lines with a lower score are mostly no text.
LEAST_SCORE = 0.9
#: Words missing from title and summary that make gibberish; one may be a street sign.
STRANGE_WORDS = 2
#: Shorter words are no evidence. Words that begin alike mean the same: bake, baker, baking.
SHORTEST_WORD, STEM = 4, 5

Read = Callable[[Image.Image], Sequence[TextLine]]


def describe_unseen(
    covers: Sequence[Cover],
    captioners: Sequence[Captioner],
    language: str,
    *,
    limits: CaptioningSettings,
    lock_of: LockOf,
    stop: Stop,
) -> list[Cover]:
    """Return the covers; those that nobody has looked at get a model's description. Raises Stopped.

    They keep their own where no model writes the language (ISO 639-1), or where it fails. `limits` are those of alt
    texts: how large a picture may be."""
    able = (one for one in captioners if one.name != BLIND and language in one.languages())
    unseen = [cover for cover in covers if not cover.painted.is_seen]
    captioner = next(able, None) if unseen else None
    if captioner is None:
        return list(covers)

    def look() -> list[Caption | None]:
        pictures = [
            read_picture(cover.painted.data, max_pixels=limits.max_pixels, max_side=limits.max_side) for cover in unseen
        ]
        results = captioner.caption([CaptionRequest(picture, (MODE,), language) for picture in pictures], stop=stop)
        return [None if isinstance(said, Exception) else said.get(MODE) for said in results]

    seen = attempt(captioner.name, lock_of(captioner), look, stop)
    if isinstance(seen, Exception):
        return list(covers)
    texts = dict(zip(map(id, unseen), seen, strict=True))
    return [_with(cover, texts.get(id(cover)), captioner.name) for cover in covers]


def _with(cover: Cover, caption: Caption | None, describer: str) -> Cover:
    if caption is None or not caption.text.strip():
        return cover
    painted = replace(cover.painted, description=caption.text, is_seen=True)
    return replace(cover, painted=painted, describer=describer)


@dataclass(frozen=True, slots=True)
class PictureCheck:
    """Checks the pictures of one post; `read` finds the text on them."""

    brief: Brief
    read: Read
    max_pixels: int
    max_side: int

    def fault_of(self, cover: Cover) -> str | None:
        if cover.painted.is_seen and cover.describer is None:
            return None
        if cover.describer is not None and not self._shows_subject(cover.painted.description):
            return "shows nothing of the subject"
        return "has letters that say nothing" if self._has_gibberish(cover) else None

    def _shows_subject(self, description: str) -> bool:
        """Return whether a description has a sign of the subject; True if the subject is not a thing."""
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
    return frozenset(word[:STEM] for word in re.findall(r"\w+", text.lower()) if len(word) >= SHORTEST_WORD)


def make_reader(_: object) -> Reader:
    return Reader()
