"""Palettes: colours that go together, chosen by hand in OKLCH."""

from dataclasses import dataclass, replace

from workers.engines.pictures.drawn.colours import Colour, oklch


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one picture.

    The title is set in `ink` on `ground` or `sky`, and can be read there (contrast of 7 and more). `deep`, `mid` and
    `bright` are the picture's colours from dark to light, `accent` is the one that strikes, `pale` is close to the
    ground. `names` are the keys of the colours that a viewer would name (wording.py).
    """

    ground: Colour
    sky: Colour
    ink: Colour
    deep: Colour
    mid: Colour
    bright: Colour
    accent: Colour
    pale: Colour
    names: tuple[str, str, str]
    is_dark: bool = False

    def on_ground(self) -> "Palette":
        """Return the palette for things that stand right on the ground: on a dark one, nothing dark."""
        if not self.is_dark:
            return self
        return replace(self, deep=self.bright, mid=self.mid, bright=self.ink, pale=self.ground)

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


_OKLCH = tuple[float, float, float]


def _palette(
    names: str,
    *,
    ground: _OKLCH,
    sky: _OKLCH,
    ink: _OKLCH,
    deep: _OKLCH,
    mid: _OKLCH,
    bright: _OKLCH,
    accent: _OKLCH,
    pale: _OKLCH,
) -> Palette:
    first, second, third = names.split()
    return Palette(
        ground=oklch(*ground),
        sky=oklch(*sky),
        ink=oklch(*ink),
        deep=oklch(*deep),
        mid=oklch(*mid),
        bright=oklch(*bright),
        accent=oklch(*accent),
        pale=oklch(*pale),
        names=(first, second, third),
        is_dark=ground[0] < 0.5,
    )


LIGHT = (
    _palette(
        "green cream yellow",
        ground=(0.965, 0.022, 95),
        sky=(0.93, 0.045, 105),
        ink=(0.27, 0.05, 158),
        deep=(0.40, 0.075, 158),
        mid=(0.58, 0.105, 150),
        bright=(0.77, 0.12, 135),
        accent=(0.83, 0.155, 82),
        pale=(0.91, 0.05, 120),
    ),
    _palette(
        "blue sand coral",
        ground=(0.965, 0.014, 230),
        sky=(0.92, 0.035, 225),
        ink=(0.26, 0.065, 255),
        deep=(0.39, 0.095, 252),
        mid=(0.58, 0.115, 240),
        bright=(0.78, 0.09, 222),
        accent=(0.73, 0.155, 38),
        pale=(0.92, 0.04, 82),
    ),
    _palette(
        "plum pink orange",
        ground=(0.965, 0.018, 45),
        sky=(0.92, 0.05, 50),
        ink=(0.27, 0.085, 335),
        deep=(0.38, 0.115, 342),
        mid=(0.60, 0.17, 12),
        bright=(0.78, 0.12, 30),
        accent=(0.80, 0.15, 68),
        pale=(0.92, 0.045, 20),
    ),
    _palette(
        "teal cream terracotta",
        ground=(0.96, 0.02, 80),
        sky=(0.93, 0.03, 170),
        ink=(0.27, 0.045, 205),
        deep=(0.42, 0.07, 200),
        mid=(0.62, 0.085, 190),
        bright=(0.80, 0.075, 180),
        accent=(0.66, 0.145, 40),
        pale=(0.90, 0.045, 70),
    ),
    _palette(
        "violet lilac yellow",
        ground=(0.965, 0.016, 300),
        sky=(0.92, 0.04, 300),
        ink=(0.27, 0.11, 290),
        deep=(0.40, 0.15, 288),
        mid=(0.60, 0.155, 292),
        bright=(0.79, 0.095, 300),
        accent=(0.86, 0.155, 92),
        pale=(0.91, 0.045, 320),
    ),
    _palette(
        "navy white red",
        ground=(0.97, 0.008, 90),
        sky=(0.94, 0.018, 90),
        ink=(0.25, 0.06, 265),
        deep=(0.34, 0.085, 265),
        mid=(0.55, 0.09, 255),
        bright=(0.80, 0.05, 245),
        accent=(0.63, 0.205, 27),
        pale=(0.90, 0.025, 85),
    ),
    _palette(
        "brown beige terracotta",
        ground=(0.955, 0.022, 75),
        sky=(0.925, 0.04, 72),
        ink=(0.28, 0.05, 45),
        deep=(0.41, 0.08, 45),
        mid=(0.60, 0.11, 52),
        bright=(0.77, 0.115, 72),
        accent=(0.66, 0.155, 32),
        pale=(0.89, 0.045, 75),
    ),
    _palette(
        "turquoise mint pink",
        ground=(0.97, 0.02, 170),
        sky=(0.93, 0.045, 175),
        ink=(0.28, 0.055, 215),
        deep=(0.45, 0.08, 210),
        mid=(0.66, 0.11, 195),
        bright=(0.83, 0.095, 180),
        accent=(0.72, 0.165, 5),
        pale=(0.92, 0.04, 10),
    ),
)

DARK = (
    _palette(
        "navy blue peach",
        ground=(0.25, 0.065, 268),
        sky=(0.30, 0.085, 272),
        ink=(0.965, 0.02, 75),
        deep=(0.38, 0.105, 270),
        mid=(0.55, 0.13, 262),
        bright=(0.76, 0.105, 245),
        accent=(0.82, 0.125, 55),
        pale=(0.34, 0.08, 270),
    ),
    _palette(
        "green mint gold",
        ground=(0.26, 0.045, 170),
        sky=(0.30, 0.055, 175),
        ink=(0.965, 0.025, 110),
        deep=(0.38, 0.07, 168),
        mid=(0.55, 0.10, 160),
        bright=(0.78, 0.105, 155),
        accent=(0.84, 0.14, 85),
        pale=(0.33, 0.055, 172),
    ),
    _palette(
        "plum pink apricot",
        ground=(0.26, 0.08, 330),
        sky=(0.30, 0.10, 328),
        ink=(0.965, 0.018, 40),
        deep=(0.39, 0.13, 335),
        mid=(0.57, 0.175, 350),
        bright=(0.76, 0.125, 10),
        accent=(0.83, 0.125, 65),
        pale=(0.34, 0.095, 332),
    ),
    _palette(
        "graphite grey lime",
        ground=(0.24, 0.012, 260),
        sky=(0.29, 0.018, 260),
        ink=(0.97, 0.008, 100),
        deep=(0.37, 0.02, 260),
        mid=(0.54, 0.025, 255),
        bright=(0.77, 0.03, 230),
        accent=(0.88, 0.185, 122),
        pale=(0.32, 0.018, 260),
    ),
)
