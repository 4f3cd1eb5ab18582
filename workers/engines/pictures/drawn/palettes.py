"""Palettes: colours that go together."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from workers.engines.pictures.drawn.colours import Colour, oklch

#: A colour that palettes.toml has in OKLCH.
_Oklch = Annotated[Colour, BeforeValidator(lambda value: oklch(*value))]


class Palette(BaseModel):
    """The colours of one picture; palettes.toml says what each is for."""

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

    def on_ground(self) -> "Palette":
        """Return the palette for things that stand right on the ground: on a dark one, nothing dark."""
        if not self.is_dark:
            return self
        return self.model_copy(update={"deep": self.bright, "bright": self.ink, "pale": self.ground})

    @property
    def white(self) -> Colour:
        """Return the lightest: what is white by day is so by night."""
        return self.ink if self.is_dark else self.ground

    @property
    def black(self) -> Colour:
        """Return the darkest."""
        return self.ground if self.is_dark else self.ink

    @property
    def colours(self) -> tuple[Colour, Colour, Colour, Colour]:
        """Return those that fill shapes."""
        return self.deep, self.mid, self.bright, self.accent


def _read(entries: list[Mapping[str, Any]], *, is_dark: bool) -> tuple[Palette, ...]:
    return TypeAdapter(tuple[Palette, ...]).validate_python([{**entry, "is_dark": is_dark} for entry in entries])


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LIGHT, DARK = _read(_FILE["light"], is_dark=False), _read(_FILE["dark"], is_dark=True)
