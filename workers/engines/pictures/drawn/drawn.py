"""drawn: covers drawn from a post's title, without any model; the same title gives the same bytes."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Self

from PIL import ImageOps

from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.pictures import Brief, Painted
from workers.engines.pictures.drawn import abstract, illustration, minimalist, topics
from workers.engines.pictures.drawn.canvas import Canvas
from workers.engines.pictures.drawn.colours import DARK, LIGHT, Palette
from workers.engines.pictures.drawn.fonts import NEEDED, Face, Fonts, can_shape, unshaped
from workers.engines.pictures.drawn.scene import Design, Scene
from workers.engines.pictures.drawn.shapes import MOTIFS
from workers.engines.pictures.drawn.topics import subject_of
from workers.engines.pictures.drawn.typesetting import Page, draw, is_right_to_left, typeset
from workers.engines.pictures.encoding import CONTENT_TYPE, encoded
from workers.engines.pictures.wording import with_title, words_of

log = get_logger(__name__)

#: A change to the drawings gives other pictures for the same titles; this keeps their seeds apart.
VERSION = 2

DESIGNS: Mapping[str, Mapping[str, Design]] = {
    "illustration": illustration.DESIGNS,
    "abstract": abstract.DESIGNS,
    "minimalist": minimalist.DESIGNS,
}

#: What comes nearest to the styles that can't be drawn.
NEAREST = "illustration"

#: Motifs for a post of which nothing is known.
GENERAL = ("pencil", "bulb", "book", "cup", "balloon")


class Drawn:
    """Drawn covers of 1200 x 630 pixels, in the styles that can be drawn; others become illustrations, and say so."""

    name = "drawn"

    def __init__(self, fonts: Fonts) -> None:
        self._fonts = fonts

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine with the operator's fonts."""
        return cls(Fonts(settings.pictures.fonts))

    def readiness(self) -> str | None:
        """Return what is missing before it can be set up: nothing."""
        return None

    def setup(self) -> None:
        """Read the fonts. Raises NotReady."""
        self._fonts.setup()
        if not can_shape():
            log.warning("titles in Arabic, Hebrew, Hindi or Thai can't be set here", engine=self.name, needs=NEEDED)

    def styles(self) -> Sequence[str]:
        """Return the styles it can truly make."""
        return tuple(DESIGNS)

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return `count` covers, each of another design and palette as long as there are some. Raises Stopped."""
        text, missing = self._fonts.settable(brief.title)
        painted = []
        for plan in _plans(brief, count):
            if stop():
                raise Stopped
            painted.append(self._cover(brief, plan, text, missing))
        return painted

    def _cover(self, brief: Brief, plan: "_Plan", text: str, missing: str) -> Painted:
        canvas = Canvas(plan.palette.ground)
        motif = MOTIFS[plan.motif]
        scene = Scene(canvas, plan.palette, Random(plan.seed), motif, has_title=bool(text))  # noqa: S311  # no secret
        page = DESIGNS[plan.style][plan.design](scene)
        if text:
            preferred = self._fonts.serif if plan.style == "minimalist" else self._fonts.sans
            _set_title(canvas, page, text, self._fonts.face_for(text, preferred) or preferred, brief.language)
        return Painted(
            encoded(canvas.image),
            CONTENT_TYPE,
            plan.style,
            _described(brief, plan, text),
            _warnings(brief.style, plan.style, text, missing),
        )


def _set_title(canvas: Canvas, page: Page, text: str, face: Face, language: str) -> None:
    if is_right_to_left(text):
        # Reading starts at the right, so the whole composition is turned round.
        canvas.image = ImageOps.mirror(canvas.image)
        page = replace(page, box=page.box.mirrored())
    draw(canvas.image, typeset(text, face, page, language), page)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one cover will be."""

    style: str
    design: str
    motif: str
    palette: Palette
    seed: bytes


def _plans(brief: Brief, count: int) -> list[_Plan]:
    """Return a plan for each cover: by the title alone, so that a title always gets the same covers."""
    style = brief.style if brief.style in DESIGNS else NEAREST
    digest = hashlib.sha256(f"{VERSION} {style} {brief.title}".encode("utf-8", "surrogatepass")).digest()
    random = Random(digest)  # noqa: S311  # no secret
    general = random.choice(GENERAL)
    motif = subject_of(brief.title, brief.tags, brief.language) or topics.motif_of(brief.category, brief.tags, general)
    designs = _designs(style, motif, random)
    light, dark = random.sample(LIGHT, len(LIGHT)), random.sample(DARK, len(DARK))
    # One in three is dark, and which one differs.
    night = random.randrange(3)
    palettes = [
        dark[index // 3 % len(dark)] if index % 3 == night else light[index % len(light)] for index in range(count)
    ]
    plans = []
    for index, palette in enumerate(palettes):
        design = designs[index % len(designs)]
        thing = "laptop" if design == "desk" and motif not in topics.ON_DESK else motif
        plans.append(_Plan(style, design, thing, palette, digest + bytes([index % 256])))
    return plans


def _designs(style: str, motif: str, random: Random) -> list[str]:
    """Return a style's designs in the order in which they are used."""
    designs = list(DESIGNS[style])
    random.shuffle(designs)
    if style == "illustration":
        # The topic first, then scenes that suit it, then any.
        fitting = random.sample(topics.SCENES[motif], 2)
        designs = list(dict.fromkeys(["hero", *fitting, *designs]))
    elif style == "minimalist":
        # The one that shows the topic is among three.
        designs.remove("emblem")
        designs.insert(random.randrange(3), "emblem")
    return designs


def _described(brief: Brief, plan: _Plan, text: str) -> str:
    """Return the description of a cover in the brief's language; `text` is what stands on it, or ""."""
    words, palette = words_of(brief.language), plan.palette
    motif, sun = words["motifs"][plan.motif], words["moon" if palette.is_dark else "sun"]
    picture = words["drawn"][plan.style].format(what=words["designs"][plan.design].format(motif=motif, sun=sun))
    first, second, third = (words["colours"][name] for name in palette.names)
    picture = words["in_colours"].format(picture=picture, first=first, second=second, third=third)
    # A title may have braces, and is put in alone.
    template = words["titled" if text else "untitled"].replace("{picture}", "\0")
    return with_title(template, text or brief.title).replace("\0", picture)


def _warnings(wanted: str, style: str, text: str, missing: str) -> tuple[str, ...]:
    warnings = []
    if wanted != style:
        warnings.append(
            f"The style {wanted} can't be drawn; the pictures are of the style {style}. A diffusion model can make it."
        )
    if unshaped(missing):
        warnings.append(f"The title's script can't be set without {NEEDED}, so the title is not on the pictures.")
    elif missing:
        listed = " ".join(missing[:8]) + (" …" if len(missing) > 8 else "")
        effect = "the pictures show the title without" if text else "the title is not on the pictures"
        warnings.append(f"No font here has {listed}, so {effect}.")
    return tuple(warnings)
