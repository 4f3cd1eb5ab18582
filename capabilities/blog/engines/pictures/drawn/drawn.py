"""drawn: covers drawn from a post's title without a model; the same title gives the same bytes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Self

from PIL import ImageOps

from capabilities.blog.engines.pictures import Brief, Painted
from capabilities.blog.engines.pictures.drawn.canvas import Canvas
from capabilities.blog.engines.pictures.drawn.fonts import NEEDED, Face, Fonts, can_shape, unshaped
from capabilities.blog.engines.pictures.drawn.plans import DESIGNS, Plan, plans_of
from capabilities.blog.engines.pictures.drawn.scene import Scene
from capabilities.blog.engines.pictures.drawn.shapes import MOTIFS, NOTHING
from capabilities.blog.engines.pictures.drawn.typesetting import TypesetPage, draw, is_right_to_left, typeset
from capabilities.blog.engines.pictures.encoding import CONTENT_TYPE, encoded
from capabilities.blog.engines.pictures.wording import with_title, words_of
from capabilities.blog.settings import PicturesSettings
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.engines import Stopped, never

log = get_logger(__name__)


class Drawn:
    """Covers of 1200 x 630 pixels; styles that can't be drawn become the nearest one."""

    name = "drawn"

    def __init__(self, fonts: Fonts) -> None:
        self._fonts = fonts

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(Fonts(settings.of(PicturesSettings).fonts))

    def readiness(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def setup(self) -> None:
        """Read the fonts. Raises NotReady."""
        self._fonts.setup()
        if not can_shape():
            log.warning("titles in Arabic, Hebrew, Hindi or Thai can't be set here", engine=self.name, needs=NEEDED)

    def styles(self) -> Sequence[str]:
        return tuple(DESIGNS)

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return `count` covers of different designs and palettes. Raises Stopped."""
        text, missing = self._fonts.settable(brief.title) if brief.with_title else ("", "")
        painted = []
        for plan in plans_of(brief, count, has_title=bool(text)):
            if stop():
                raise Stopped
            painted.append(self._cover(brief, plan, text, missing))
        return painted

    def _cover(self, brief: Brief, plan: Plan, text: str, missing: str) -> Painted:
        canvas = Canvas(plan.palette.ground)
        motif = MOTIFS[plan.motif] if plan.motif else NOTHING
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
            look=plan.look,
        )


def _set_title(canvas: Canvas, page: TypesetPage, text: str, face: Face, language: str) -> None:
    if is_right_to_left(text):
        # Reading starts at the right, so the composition is mirrored.
        canvas.image = ImageOps.mirror(canvas.image)
        page = replace(page, box=page.box.mirrored())
    draw(canvas.image, typeset(text, face, page, language), page)


def _described(brief: Brief, plan: Plan, text: str) -> str:
    """Return the description of a cover in the brief's language; `text` is the title on it, or ""."""
    words, palette = words_of(brief.language), plan.palette
    cover = words["cover"]
    motif, sun = words["motifs"][plan.motif] if plan.motif else "", cover["moon" if palette.is_dark else "sun"]
    picture = words["drawn"][plan.style].format(what=words["designs"][plan.design].format(motif=motif, sun=sun))
    first, second, third = (words["colours"][name] for name in palette.names)
    picture = cover["in_colours"].format(picture=picture, first=first, second=second, third=third)
    # A title may have braces, and is put in alone.
    template = cover["titled" if text else "untitled"].replace("{picture}", "\0")
    return with_title(template, text or brief.title).replace("\0", picture)


def _warnings(wanted: str, style: str, text: str, missing: str) -> tuple[str, ...]:
    warnings = []
    if wanted != style and wanted in DESIGNS:
        warnings.append(
            f"Nothing that can be drawn stands for this post, so pictures of other styles than {wanted} were made."
        )
    if unshaped(missing):
        warnings.append(f"The title's script can't be set without {NEEDED}, so the title is not on the pictures.")
    elif missing:
        listed = " ".join(missing[:8]) + (" …" if len(missing) > 8 else "")
        effect = "the pictures show the title without" if text else "the title is not on the pictures"
        warnings.append(f"No font here has {listed}, so {effect}.")
    return tuple(warnings)
