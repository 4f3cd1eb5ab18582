"""Plans: the design, motif and colours of each cover."""

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

#: Part of the seeds: a new version gives new pictures for the same titles.
VERSION = 3

DESIGNS: Mapping[str, Mapping[str, Design]] = {
    "illustration": {**illustration.DESIGNS, **poster.DESIGNS},
    "abstract": abstract.DESIGNS,
    "minimalist": minimalist.DESIGNS,
}

#: The style for styles that can't be drawn.
NEAREST = "illustration"

#: Designs around the motif, the minimalist design with it, and all designs that show it.
AROUND, EMBLEM = ("hero", *poster.DESIGNS), "emblem"
SHOWING = frozenset({*AROUND, "desk", EMBLEM})

#: Weight of each older post against the next.
FADING = 0.85


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one cover; `motif` is None if it shows none."""

    style: str
    design: str
    motif: str | None
    palette: Palette
    seed: bytes

    @property
    def look(self) -> str:
        """Return design, palette and motif, for `Brief.recent`."""
        return f"{self.design}/{self.palette.key}/{self.motif}"


def plans_of(brief: Brief, count: int, *, has_title: bool) -> list[Plan]:
    """Return a plan for each cover, by the title, unlike the looks in `brief.recent`."""
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
        # A wrong thing is worse than none. Designs of type need a title.
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
    light, dark = (
        cycle(sorted(random.sample(palettes, len(palettes)), key=lambda one: _familiar(recent, f"/{one.key}/")))
        for palettes in (LIGHT, DARK)
    )
    night = random.randrange(3)
    return [next(dark if index % 3 == night else light) for index in range(count)]


def _familiar(recent: Recent, part: str, ending: str = "\0") -> float:
    """Return how much a look with a part, and maybe an ending, resembles the recent ones.

    The last post counts most, and each post's first cover, which is used most."""
    return sum(
        FADING**age * (1 + look.endswith(ending)) * (2 if place == 0 else 1)
        for age, looks in enumerate(recent)
        for place, look in enumerate(looks)
        if part in look
    )
