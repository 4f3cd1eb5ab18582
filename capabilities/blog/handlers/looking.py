"""Looking: a captioning model describes generated pictures by what it sees on them."""

from collections.abc import Sequence
from dataclasses import replace

from capabilities.alt_text.engines import Caption, Captioner, CaptionRequest, Mode
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.handlers.attempts import LockOf, Stop, attempt
from capabilities.blog.handlers.covers import Cover
from workers.media.images.reading import read_picture

#: One full sentence, its subject first.
MODE: Mode = "seo"

#: The engine without a model: it tells colours, text and charts, and nothing of a generated picture.
BLIND = "basic"


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
