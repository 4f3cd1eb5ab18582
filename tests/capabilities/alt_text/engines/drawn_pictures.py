"""Pictures that are drawn for tests: of each kind that `basic` tells apart."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from workers.engines.ocr import Reader, TextLine
from workers.media.images.picture import Note, Picture

WHITE, BLACK, NAVY = (255, 255, 255), (20, 20, 20), (20, 30, 90)


def picture_of(
    image: Image.Image, *, notes: Sequence[Note] = (), animated: bool = False, opaque: Image.Image | None = None
) -> Picture:
    """Return an image as the worker would have read it."""
    return Picture(image.convert("RGB"), "PNG", animated, opaque, notes)


class Blind(Reader):
    """A reader that finds the lines that a test gives it."""

    def __init__(self, *lines: TextLine) -> None:
        self._lines = lines

    def read(self, image: Image.Image, *, is_grainy: bool = False) -> Sequence[TextLine]:
        return self._lines


def font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def banner() -> Image.Image:
    image = Image.new("RGB", (1200, 400), NAVY)
    draw = ImageDraw.Draw(image)
    draw.text((600, 170), "Summer sale: 50 % off", font=font(84), fill=WHITE, anchor="mm")
    draw.text((600, 290), "Only until 31 August", font=font(40), fill=(255, 224, 0), anchor="mm")
    return image


def bar_chart() -> Image.Image:
    image = Image.new("RGB", (1000, 700), WHITE)
    draw = ImageDraw.Draw(image)
    draw.text((500, 50), "Revenue 2025", font=font(44), fill=BLACK, anchor="mm")
    for step in range(6):
        y = 600 - step * 90
        draw.line((120, y, 940, y), fill=(220, 220, 220), width=2)
        draw.text((105, y), str(step * 20), font=font(24), fill=BLACK, anchor="rm")
    for bar, (month, value) in enumerate((("Jan", 35), ("Feb", 62), ("Mar", 48), ("Apr", 90), ("May", 71))):
        x = 170 + bar * 155
        draw.rectangle((x, 600 - value * 4.5, x + 100, 600), fill=(25, 118, 210))
        draw.text((x + 50, 630), month, font=font(26), fill=BLACK, anchor="mm")
    draw.line((120, 600, 940, 600), fill=BLACK, width=3)
    return image


@cache
def photo(size: tuple[int, int] = (1200, 800), seed: int = 7) -> Image.Image:
    """A landscape as a camera has it: soft gradients, many tones, and grain everywhere."""
    width, height = size
    grain = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32) / [[[height]], [[width]]]
    sky = np.stack([110 + 90 * y, 160 + 60 * y, 235 - 20 * y], axis=2)
    hills = 0.55 + 0.06 * np.sin(7 * x) + 0.03 * np.sin(23 * x + 1)
    field = np.stack([60 + 80 * y, 105 + 40 * np.sin(9 * x) * y, 40 + 20 * y], axis=2)
    scene = np.where((y > hills)[:, :, None], field, sky)
    leaves = Image.fromarray(grain.integers(0, 255, (height // 6, width // 6), dtype=np.uint8)).resize(size)
    scene += (
        (np.asarray(leaves.filter(ImageFilter.GaussianBlur(2)), np.float32)[:, :, None] - 128)
        * 0.35
        * (y > hills)[:, :, None]
    )
    scene += grain.normal(0, 6, scene.shape)
    return Image.fromarray(scene.clip(0, 255).astype(np.uint8))


def logo() -> Image.Image:
    """A mark and a name on nothing: RGBA."""
    image = Image.new("RGBA", (600, 300), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.ellipse((40, 70, 200, 230), fill=(200, 32, 45))
    draw.polygon([(120, 100), (165, 190), (75, 190)], fill=WHITE)
    draw.text((230, 150), "Acme", font=font(110), fill=(200, 32, 45), anchor="lm")
    return image


def illustration() -> Image.Image:
    """A house on a hill in flat colours."""
    image = Image.new("RGB", (900, 600), (135, 206, 235))
    draw = ImageDraw.Draw(image)
    draw.ellipse((690, 50, 810, 170), fill=(255, 224, 0))
    draw.ellipse((-200, 380, 1100, 1100), fill=(76, 175, 80))
    draw.rectangle((350, 260, 560, 440), fill=(240, 226, 200))
    draw.polygon([(330, 260), (580, 260), (455, 160)], fill=(200, 32, 45))
    draw.rectangle((430, 350, 490, 440), fill=(111, 69, 24))
    return image


def letter() -> Image.Image:
    """A page of text, as a scanner has it: off-white, with a little grain."""
    image = Image.new("RGB", (1000, 1400), (250, 249, 246))
    draw = ImageDraw.Draw(image)
    draw.text((100, 100), "Terms of the agreement", font=font(46), fill=BLACK)
    lines = (
        "This agreement is made between the owner of the house",
        "and the tenant. The rent is due on the first day of each",
        "month and is paid to the account that is named below.",
        "The tenant keeps the rooms clean and in good order and",
        "tells the owner at once of any damage to the building.",
        "Pets are allowed after the written consent of the owner.",
        "Either side may end the agreement with three months of",
        "notice at the end of a quarter. The deposit is returned",
        "within six weeks after the keys have been handed back.",
        "Changes of this agreement are valid in writing alone.",
    )
    for row, line in enumerate(lines):
        draw.text((100, 220 + row * 60), line, font=font(31), fill=(40, 40, 40))
    draw.text((100, 1000), "Signature of the tenant", font=font(31), fill=(40, 40, 40))
    grain = np.random.default_rng(3).normal(0, 2, (1400, 1000, 1))
    return Image.fromarray((np.asarray(image, np.float32) + grain).clip(0, 255).astype(np.uint8))


def icon() -> Image.Image:
    """A white tick on a green disc: RGBA."""
    image = Image.new("RGBA", (96, 96), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.ellipse((4, 4, 92, 92), fill=(0, 160, 64))
    draw.line((26, 50, 42, 66, 70, 32), fill=WHITE, width=9)
    return image


def plain() -> Image.Image:
    return Image.new("RGB", (400, 300), (200, 32, 45))


def photo_with_sign() -> Image.Image:
    """A landscape with a sign in it."""
    image = photo(seed=11)
    draw = ImageDraw.Draw(image)
    draw.rectangle((760, 430, 1100, 590), fill=(235, 225, 60), outline=BLACK, width=6)
    draw.text((930, 510), "NO ENTRY", font=font(60), fill=BLACK, anchor="mm")
    return image


def author_says(text: str, language: str = "x-default") -> bytes:
    """Return the XMP packet of a picture whose author says what it shows."""
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/">'
        f'<Iptc4xmpCore:AltTextAccessibility><rdf:Alt><rdf:li xml:lang="{language}">{text}</rdf:li></rdf:Alt>'
        "</Iptc4xmpCore:AltTextAccessibility></rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()
