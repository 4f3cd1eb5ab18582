"""Plans: which design, motif and colours each cover of a post gets."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random

from capabilities.blog.engines.pictures import Brief, Recent
from capabilities.blog.engines.pictures.drawn import topics
from capabilities.blog.engines.pictures.drawn.colours import DARK, LIGHT, Palette
from capabilities.blog.engines.pictures.drawn.scene import Design
from capabilities.blog.engines.pictures.drawn.styles import abstract, illustration, minimalist, poster

#: A change to the drawings gives other pictures for the same titles; this keeps their seeds apart.
VERSION = 3

DESIGNS: Mapping[str, Mapping[str, Design]] = {
    "illustration": {**illustration.DESIGNS, **poster.DESIGNS},
    "abstract": abstract.DESIGNS,
    "minimalist": minimalist.DESIGNS,
}

#: What comes nearest to the styles that can't be drawn.
NEAREST = "illustration"

#: Designs around the motif itself, in any post that has one.
AROUND = ("hero", *poster.DESIGNS)

#: The minimalist design that shows the motif; the others show none, and suit any post.
EMBLEM = "emblem"

#: Designs that show the motif.
SHOWING = frozenset({*AROUND, "desk", EMBLEM})

#: How much an account's last but one post counts, beside its last.
FADING = 0.85


@dataclass(frozen=True, slots=True)
class Plan:
    """What one cover will be; `motif` is None where it shows none."""

    style: str
    design: str
    motif: str | None
    palette: Palette
    seed: bytes

    @property
    def look(self) -> str:
        """Return what makes it look as it does, for `Brief.recent`."""
        return f"{self.design}/{self.palette.key}/{self.motif}"


def plans_of(brief: Brief, count: int, *, has_title: bool) -> list[Plan]:
    """Return a plan for each cover: by the title, and away from what `brief.recent` looks like."""
    style = brief.style if brief.style in DESIGNS else NEAREST
    digest = hashlib.sha256(f"{VERSION} {style} {brief.title}".encode("utf-8", "surrogatepass")).digest()
    random = Random(digest)  # noqa: S311  # no secret
    motif = topics.motif_of(brief)
    designs = _designs(brief.style, motif, brief.recent, random, has_title=has_title)
    palettes = _palettes(count, brief.recent, random)
    plans = []
    for index, palette in enumerate(palettes):
        kind, design = designs[index % len(designs)]
        plans.append(Plan(kind, design, motif if design in SHOWING else None, palette, digest + bytes([index % 256])))
    return plans


def _designs(
    style: str, motif: str | None, recent: Recent, random: Random, *, has_title: bool
) -> list[tuple[str, str]]:
    """Return styles and designs in the order of their use; the first three have the motif, and are three ideas."""

    def fresh(kind: str, designs: Sequence[str]) -> list[tuple[str, str]]:
        shuffled = random.sample(designs, len(designs))
        shuffled.sort(key=lambda design: _familiar(recent, f"{design}/", f"/{motif}"))
        return [(kind, design) for design in shuffled]

    plain = fresh("minimalist", [design for design in minimalist.DESIGNS if design != EMBLEM])
    free = fresh("abstract", list(abstract.DESIGNS))
    if style == "abstract":
        return free
    if style == "minimalist":
        if motif is not None:
            plain.insert(random.randrange(3), ("minimalist", EMBLEM))
        return plain
    if motif is None:
        # A wrong thing is worse than none. What lives by its type alone needs a title.
        return _in_turn(plain, free, random) if has_title else free
    around = fresh("illustration", [*AROUND, *(["desk"] if motif in topics.ON_DESK else [])])
    fitting = fresh("illustration", topics.SCENES.get(motif, ()))
    if style != NEAREST:
        # Nobody asked for illustrations alone: a thing, a scene, and a cover of type or shapes.
        others = _in_turn(plain, free, random) if has_title else free
        return [*around[:1], *fitting[:1], *others[:2], *around[1:], *fitting[1:]]
    return [*around[:1], *fitting[:1], *around[1:], *fitting[1:]]


def _in_turn(
    plain: Sequence[tuple[str, str]], free: Sequence[tuple[str, str]], random: Random
) -> list[tuple[str, str]]:
    first, second = (plain, free) if random.random() < 0.5 else (free, plain)
    return [design for pair in zip(first, second, strict=False) for design in pair]


def _palettes(count: int, recent: Recent, random: Random) -> list[Palette]:
    """Return a palette for each cover; one in three is dark, and which one differs."""
    light, dark = (
        cycle(sorted(random.sample(palettes, len(palettes)), key=lambda one: _familiar(recent, f"/{one.key}/")))
        for palettes in (LIGHT, DARK)
    )
    night = random.randrange(3)
    return [next(dark if index % 3 == night else light) for index in range(count)]


def _familiar(recent: Recent, part: str, ending: str = "\0") -> float:
    """Return how much a cover whose look has a part would resemble the recent ones; the same ending counts again.

    The last post's count most, and of a post's the first, which is the one that is mostly used."""
    return sum(
        FADING**age * (1 + look.endswith(ending)) * (2 if place == 0 else 1)
        for age, looks in enumerate(recent)
        for place, look in enumerate(looks)
        if part in look
    )
