"""Pictures: what the engines make of thirty pictures that are drawn here, held against what is in them.

A fact is found if one of its words is in the text. A claim is false if the text has a word that is not so, quotes what
is not written in the picture, calls a drawing a photo, or carries markup."""

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import regex

from benchmarks.quality.drawing import Drawn, drawn_pictures
from capabilities.alt_text.engines import Caption, Captioner, CaptionRequest
from capabilities.alt_text.engines.generation.looking import is_read, quotations
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines.family import Family
from workers.media.images.picture import Picture

#: From here on a text claims to be right.
SURE = 0.9
_MARKUP = regex.compile(r"[<>{}\[\]|\\`*]|https?:|\bwww\.|&\w+;")
_PHOTO = regex.compile(r"\b(?:photo|photograph|foto|fotografía|fotografia)\b", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """A picture's missed facts and false claims."""

    drawn: Drawn
    caption: Caption | PressroomError
    missed: Sequence[str]
    false: Sequence[str]
    seconds: float

    @property
    def text(self) -> str:
        """Return the text, or why there is none."""
        return self.caption.message if isinstance(self.caption, PressroomError) else self.caption.text

    @property
    def confidence(self) -> float:
        """Return the confidence; 0 without a text."""
        return 0.0 if isinstance(self.caption, PressroomError) else self.caption.confidence

    @property
    def is_draft(self) -> bool:
        """Return whether it was free, as a draft or as an error."""
        return isinstance(self.caption, PressroomError) or self.caption.draft


def ready_captioners() -> list[Captioner]:
    """Return the engines that this machine can set up, in the order of preference."""
    family = Family(Settings(), "captioning")
    family.setup()
    return list(family.engines)


def judge_pictures(engine: Captioner, *, every: int = 1) -> Iterator[Judged]:
    """Yield what an engine makes of each picture, or of every n-th, one at a time, as a short text."""
    for drawn in islice(drawn_pictures(), 0, None, every):
        picture = Picture(drawn.image, "PNG", opaque=drawn.opaque, notes=drawn.notes)
        began = time.perf_counter()
        (said,) = engine.caption([CaptionRequest(picture, ("short",), drawn.language)])
        yield judge_caption(
            drawn, said if isinstance(said, PressroomError) else said["short"], time.perf_counter() - began
        )


def judge_caption(drawn: Drawn, caption: Caption | PressroomError, seconds: float) -> Judged:
    """Return which facts of a picture were missed, and what is false."""
    if isinstance(caption, PressroomError):
        return Judged(drawn, caption, drawn.facts, (), seconds)
    text = caption.text.casefold()
    missed = [fact for fact in drawn.facts if not any(word.casefold() in text for word in fact.split("|"))]
    false = [f"“{word}”" for word in drawn.never if word.casefold() in text]
    written = [*drawn.texts, *(note.text for note in drawn.notes)]
    false += [f"quotes “{quoted}”" for quoted in quotations(caption.text) if not is_read(quoted.rstrip("…"), written)]
    if _PHOTO.search(caption.text):
        false.append("called a photo")
    if markup := _MARKUP.search(caption.text):
        false.append(f"markup {markup.group()}")
    return Judged(drawn, caption, missed, false, seconds)


def pictures_rows(judged: Sequence[tuple[str, Sequence[Judged]]]) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and a row an engine."""
    yield (
        "engine", "pictures", "facts found", "false claims", "drafts, free", f"right of those at ≥{SURE}",
        "characters", "a picture, median", "slowest",
    )  # fmt: skip
    for name, pictures in judged:
        facts = sum(len(one.drawn.facts) for one in pictures)
        sure = [one for one in pictures if one.confidence >= SURE]
        lengths = [len(one.text) for one in pictures]
        yield (
            name,
            str(len(pictures)),
            f"{facts - sum(len(one.missed) for one in pictures)} of {facts}",
            str(sum(len(one.false) for one in pictures)),
            str(sum(one.is_draft for one in pictures)),
            f"{sum(not one.false for one in sure)} of {len(sure)}",
            f"{min(lengths)}–{max(lengths)}, median {statistics.median(lengths):.0f}",
            f"{statistics.median(one.seconds for one in pictures):.1f} s",
            f"{max(one.seconds for one in pictures):.1f} s",
        )


def picture_samples(judged: Sequence[Judged]) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and a row a picture: its text, and what is missing or false."""
    yield ("picture", "text", "confidence", "missed, false")
    for one in judged:
        notes = [f"missed: {fact.partition('|')[0]}" for fact in one.missed] + [
            f"**false**: {fact}" for fact in one.false
        ]
        state = f"{one.confidence:.2f}" + (", draft" if one.is_draft else "")
        yield (f"{one.drawn.name}, {one.drawn.language}", one.text, state, "; ".join(notes))
