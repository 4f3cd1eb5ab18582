"""Picture: a decoded image file, upright and opaque, with what its author wrote into it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image


@dataclass(frozen=True, slots=True)
class Note:
    """A text in the file's metadata: `field` is alt_text, caption or title; `language` is its tag, if it has one."""

    field: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The first frame of an image file.

    `image` is RGB, turned as its EXIF says; behind transparent parts is a grey that contrasts with what is drawn.
    `opaque` is the alpha channel in mode L, 0 where nothing is drawn; None: next to nothing is transparent.
    `notes` come with the most trustworthy first. `is_exposed`: its EXIF tells a camera's exposure."""

    image: Image.Image
    format: str
    is_animated: bool = False
    opaque: Image.Image | None = None
    notes: Sequence[Note] = ()
    is_exposed: bool = False

    @property
    def has_transparency(self) -> bool:
        """Whether a part of it is transparent."""
        return self.opaque is not None
