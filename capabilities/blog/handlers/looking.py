"""Looking: generated pictures are shown to a captioning model, so that their descriptions say what is on them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from capabilities.alt_text.engines import Caption, Captioner, CaptionRequest, Mode
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.handlers.covers import Cover
from pipeline.log import get_logger
from workers.engines import Stopped
from workers.engines.locks import FairLock
from workers.media.images.picture import Picture
from workers.media.images.reading import read_picture

log = get_logger(__name__)

#: One full sentence, its subject first.
MODE: Mode = "seo"

#: Tells colours, text and charts, without a model: of a generated picture it can say nothing worth hearing.
BLIND = "basic"


def describe_unseen(
    covers: Sequence[Cover],
    captioners: Sequence[Captioner],
    language: str,
    *,
    limits: CaptioningSettings,
    lock_of: Callable[[object], FairLock],
    stop: Callable[[], bool],
) -> list[Cover]:
    """Return the covers, those that nobody has looked at with what a model sees on them. Raises Stopped.

    They stay as they are where no model here writes the language (ISO 639-1), or where it fails. `limits`: how large a
    picture may be to be looked at, as for alt texts."""
    able = (one for one in captioners if one.name != BLIND and language in one.languages())
    unseen = [cover for cover in covers if not cover.painted.is_seen]
    captioner = next(able, None) if unseen else None
    if captioner is None:
        return list(covers)
    try:
        pictures = [
            read_picture(cover.painted.data, max_pixels=limits.max_pixels, max_side=limits.max_side) for cover in unseen
        ]
        # Alt texts are written by the same model, a batch at a time.
        with lock_of(captioner).unless(stop):
            seen = _look(captioner, pictures, language, stop)
    except Stopped:
        raise
    except Exception as error:  # whatever a model does, the pictures have a description already
        log.warning("pictures not described", engine=captioner.name, exc_info=error)
        return list(covers)
    texts = dict(zip(map(id, unseen), seen, strict=True))
    return [_with(cover, texts.get(id(cover)), captioner.name) for cover in covers]


def _look(
    captioner: Captioner, pictures: Sequence[Picture], language: str, stop: Callable[[], bool]
) -> list[Caption | None]:
    results = captioner.caption([CaptionRequest(picture, (MODE,), language) for picture in pictures], stop=stop)
    return [None if isinstance(said, Exception) else said.get(MODE) for said in results]


def _with(cover: Cover, caption: Caption | None, describer: str) -> Cover:
    if caption is None or not caption.text.strip():
        return cover
    painted = replace(cover.painted, description=caption.text, is_seen=True)
    return replace(cover, painted=painted, describer=describer)
