"""Colours: 8-bit sRGB from OKLCH, in which equal steps look equal (Ottosson 2020); mixtures and palettes."""

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

Colour = tuple[int, int, int]


def oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """Return the sRGB colour of `lightness` in 0..1, `chroma` from 0 to about 0.3, and `hue` in degrees."""
    # Outside sRGB, less chroma keeps lightness and hue.
    for step in range(20, -1, -1):
        linear = _linear(lightness, chroma * step / 20, math.radians(hue))
        if all(-0.0005 <= channel <= 1.0005 for channel in linear):
            break
    red, green, blue = (round(255 * _encoded(channel)) for channel in linear)
    return red, green, blue


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """Return `one` with a `share` of `other` in it, 0..1."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def blended(colours: Sequence[Colour], share: float) -> Colour:
    """Return the colour at a `share` of the way through colours, 0..1."""
    place = share * (len(colours) - 1)
    index = min(int(place), len(colours) - 2)
    return mixed(colours[index], colours[index + 1], place - index)


def _linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _encoded(linear: float) -> float:
    linear = min(1.0, max(0.0, linear))
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


#: A colour that palettes.toml has in OKLCH.
_Oklch = Annotated[Colour, BeforeValidator(lambda value: oklch(*value))]


class Palette(BaseModel):
    """The colours of one picture; palettes.toml explains each."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    names: tuple[str, str, str]
    ground: _Oklch
    sky: _Oklch
    ink: _Oklch
    deep: _Oklch
    mid: _Oklch
    bright: _Oklch
    accent: _Oklch
    pale: _Oklch
    is_dark: bool

    @property
    def key(self) -> str:
        """Return its name, such as green-cream-yellow."""
        return "-".join(self.names)

    def on_ground(self) -> "Palette":
        """Return the palette for things on the ground: without dark ones on dark ground."""
        if not self.is_dark:
            return self
        return self.model_copy(update={"deep": self.bright, "bright": self.ink, "pale": self.ground})

    @property
    def white(self) -> Colour:
        return self.ink if self.is_dark else self.ground

    @property
    def black(self) -> Colour:
        return self.ground if self.is_dark else self.ink

    @property
    def colours(self) -> tuple[Colour, Colour, Colour, Colour]:
        return self.deep, self.mid, self.bright, self.accent


_FILE = tomllib.loads(Path(__file__).with_name("palettes.toml").read_text("utf-8"))
LIGHT, DARK = (
    tuple(Palette.model_validate({**entry, "is_dark": key == "dark"}) for entry in _FILE[key])
    for key in ("light", "dark")
)
