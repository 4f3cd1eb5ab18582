"""Colours: OKLCH, in which steps look even (Ottosson 2020), to 8-bit sRGB and back, and WCAG contrast."""

import math

#: 8-bit sRGB.
Colour = tuple[int, int, int]


def oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """Return the sRGB colour of `lightness` in 0..1, `chroma` from 0 to about 0.3, and `hue` in degrees.

    Outside of sRGB the chroma is reduced until it fits, so that lightness and hue stay.
    """
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


def luminance(colour: Colour) -> float:
    """Return the relative luminance (WCAG 2.2), 0..1."""
    red, green, blue = (_decoded(channel / 255) for channel in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2), 1..21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


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


def _decoded(encoded: float) -> float:
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4
