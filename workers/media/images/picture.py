"""Picture: a decoded image file, upright and opaque, with what its author wrote into it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image


@dataclass(frozen=True, slots=True)
class Note:
    """A text that the file itself holds: `field` is alt_text, caption or title; `language` is a tag, if it is told."""

    field: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The first frame of an image file.

    `image` is RGB, turned as its EXIF says; what was transparent has a grey that its drawing stands out from.
    `opaque` is of the same size, in mode L, and 0 where nothing is drawn; None: no such part is worth a word. `notes`
    come in the order in which they should be believed. `sha256` is that of the file's bytes.
    """

    image: Image.Image
    format: str
    sha256: bytes
    is_animated: bool = False
    opaque: Image.Image | None = None
    notes: Sequence[Note] = ()

    @property
    def has_transparency(self) -> bool:
        """Whether a part of it is transparent."""
        return self.opaque is not None

    def shrink(self, longest: int) -> None:
        """Make it smaller, to at most so many pixels a side."""
        for layer in (self.image, self.opaque):
            if layer is not None:
                layer.thumbnail((longest, longest))
