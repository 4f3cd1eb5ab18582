"""Colours: each has the name that people would give it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from capabilities.alt_text.engines.basic.colours import palette_of


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ("#000000", "black"), ("#202020", "black"), ("#444444", "dark_grey"), ("#808080", "grey"),
        ("#c8c8c8", "light_grey"), ("#ffffff", "white"), ("#fafafa", "white"), ("#dc143c", "red"),
        ("#ff3b30", "red"), ("#800000", "dark_red"), ("#ffa500", "orange"), ("#f57c00", "orange"),
        ("#ffeb3b", "yellow"), ("#ffd700", "yellow"), ("#228b22", "green"), ("#34c759", "green"),
        ("#006400", "dark_green"), ("#98fb98", "light_green"), ("#008080", "turquoise"), ("#00bcd4", "turquoise"),
        ("#87cefa", "light_blue"), ("#007aff", "blue"), ("#4169e1", "blue"), ("#000080", "dark_blue"),
        ("#1b2a49", "dark_blue"), ("#8a2be2", "purple"), ("#673ab7", "purple"), ("#ffc0cb", "pink"),
        ("#ff1493", "pink"), ("#8b4513", "brown"), ("#795548", "brown"), ("#f5deb3", "beige"),
        ("#faebd7", "beige"), ("#808000", "green"), ("#e4d96f", "yellow"), ("#6b8e23", "green"), ("#d8c47a", "yellow"),
    ],
)  # fmt: skip
def test_a_colour_has_its_common_name(colour: str, name: str) -> None:
    palette = palette_of(Image.new("RGB", (20, 20), colour))

    assert palette.main == [name]
    assert palette.background == name


def test_shades_of_one_colour_are_one_and_small_ones_are_not_named() -> None:
    image = Image.new("RGB", (100, 100), "#0000d0")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 100, 40), fill="#a8d4f5")
    draw.rectangle((0, 80, 100, 100), fill="#ffffff")
    draw.rectangle((0, 0, 10, 10), fill="#ff0000")

    palette = palette_of(image)

    assert palette.main == ["light_blue", "white"] or palette.main == ["blue", "white"]
    assert palette.background is None


def test_letters_too_thin_for_an_average_have_their_own_colour_and_not_that_of_mixtures() -> None:
    image = Image.new("RGB", (1000, 400), "#065f46")
    ImageDraw.Draw(image).text((80, 150), "what nobody here can read", font_size=60, fill="white")

    assert (palette_of(image).shown, palette_of(image).background) == (["white"], "dark_green")


def test_grey_that_is_an_average_of_grain_is_no_background() -> None:
    grain = np.random.default_rng(1).integers(0, 255, (400, 600, 3), dtype=np.uint8)

    assert palette_of(Image.fromarray(grain)).background is None
