"""Colours: the names of a picture's colours, each that of the nearest tone in OKLab (Ottosson 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PIL import Image

from capabilities.alt_text.engines.basic.wording import TONES

#: Longest side of the averaged picture whose pixels are counted.
COUNTED_SIDE = 128
#: The same of a picture with a background, which is sampled and not averaged.
PICKED_SIDE = 400
#: The share of the picture that a colour needs to be named, and the most names.
LEAST_SHARE = 0.12
MOST_NAMED = 3
#: On a background: less than this share of the picture is noise; and a colour's least share of what is not background.
LEAST_SHOWN, LEAST_PART = 0.01, 0.2
#: Least shares of the edge's pixels, and of all pixels, of the background's colour.
LEAST_EDGE, LEAST_BACKGROUND = 0.7, 0.3
#: People name a hue before its lightness: two blues of different lightness are closer than a blue and a green.
HUE_WEIGHT = 1.8

NAMES = tuple(TONES)
#: From linear sRGB to the cones' responses, and from their cube roots to OKLab (Ottosson 2020).
TO_CONES = (
    (0.4122214708, 0.2119034982, 0.0883024619),
    (0.5363325363, 0.6806995451, 0.2817188376),
    (0.0514459929, 0.1073969566, 0.6299787005),
)
TO_LAB = (
    (0.2104542553, 1.9779984951, 0.0259040371),
    (0.7936177850, -2.4285922050, 0.7827717662),
    (-0.0040720468, 0.4505937099, -0.8086757660),
)


@dataclass(frozen=True, slots=True)
class DominantColours:
    """Colour names, the largest first, each with its share; shades of one colour count together."""

    named: Sequence[tuple[str, float]]
    #: The colour around what is shown; None where it differs from side to side.
    background: str | None

    @property
    def main(self) -> list[str]:
        """Return the colours worth naming, the largest first; at least one."""
        worth = [name for name, share in self.named[:MOST_NAMED] if share >= LEAST_SHARE]
        return worth or [self.named[0][0]]

    @property
    def shown(self) -> list[str]:
        """Return the colours of what is on the background, or the main ones if there is none or it is bare."""
        if self.background is None:
            return self.main
        others = [(name, share) for name, share in self.named if family(name) != family(self.background or "")]
        whole = sum(share for _, share in others)
        if whole < LEAST_SHOWN:
            return self.main
        return [name for name, share in others[:MOST_NAMED] if share >= LEAST_PART * whole] or [others[0][0]]


def palette_of(image: Image.Image, opaque: Image.Image | None = None) -> DominantColours:
    """Return the colours of an RGB picture, or of its opaque part, which has no background."""
    import numpy as np

    names = nearest(np.asarray(shrunk(image, COUNTED_SIDE)))
    if opaque is not None:
        opacity = np.asarray(shrunk(opaque, COUNTED_SIDE))
        # If lines are thinner than a pixel of the shrunk picture, no pixel is fully opaque.
        drawn = next(part for part in (names[opacity >= 192], names[opacity > 0], names.ravel()) if part.size)
        return DominantColours(_families(_shares(drawn)), None)
    depth = max(1, min(names.shape) // 24)
    edge = np.concatenate(
        [part.ravel() for part in (names[:depth], names[-depth:], names[:, :depth], names[:, -depth:])]
    )
    shares, around = _shares(names), _shares(edge)
    outer = int(around.argmax())
    without_background = DominantColours(_families(shares), None)
    if around[outer] < LEAST_EDGE or shares[outer] < LEAST_BACKGROUND:
        return without_background
    # Averaging mixes thin strokes and letters with their ground, and the mixture may have another name.
    sharp = _shares(nearest(np.asarray(shrunk(image, PICKED_SIDE, Image.Resampling.NEAREST))))
    # Grey that is only the average of coloured grain is not a background.
    return DominantColours(_families(sharp), NAMES[outer]) if sharp[outer] >= LEAST_BACKGROUND else without_background


def nearest(pixels: Any) -> Any:
    """Return the index in NAMES of each pixel; `pixels` is uint8 of shape (h, w, 3)."""
    prototypes, owners = _prototypes()
    import numpy as np

    # One number a colour: np.unique takes ten times as long for rows.
    codes = (pixels >> 2).reshape(-1, 3).astype(np.int32) @ np.array([1 << 12, 1 << 6, 1])
    flat, back = np.unique(codes, return_inverse=True)
    lab = _oklab(np.stack([flat >> 12, flat >> 6 & 63, flat & 63], axis=1) * 4 + 2)
    distances = ((lab[:, None, :] - prototypes[None, :, :]) ** 2).sum(axis=2)
    return owners[distances.argmin(axis=1)][back.ravel()].reshape(pixels.shape[:2])


def shrunk(image: Image.Image, longest: int, how: Image.Resampling = Image.Resampling.BOX) -> Image.Image:
    """Return a picture shrunk to at most that side; no array of all its pixels is made, which may be 120 MB."""
    scale = longest / max(image.size)
    if scale >= 1:
        return image
    return image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))), how)


def family(name: str) -> str:
    return name.removeprefix("dark_").removeprefix("light_")


def _shares(names: Any) -> Any:
    """Return the share of each colour, by its index in NAMES, among such indexes."""
    import numpy as np

    return np.bincount(names.ravel(), minlength=len(NAMES)) / names.size


def _families(shares: Any) -> list[tuple[str, float]]:
    """Return the colours, the largest share first; shades of a colour are added up, under the name of the largest."""
    members: dict[str, list[tuple[float, str]]] = {}
    for name, share in zip(NAMES, shares, strict=True):
        if share > 0:
            members.setdefault(family(name), []).append((float(share), name))
    together = [(max(shades)[1], sum(share for share, _ in shades)) for shades in members.values()]
    return sorted(together, key=lambda named: -named[1])


@cache
def _prototypes() -> tuple[Any, Any]:
    """Return all tones in OKLab, and the index in NAMES of each."""
    import numpy as np

    tones = [(owner, tone) for owner, name in enumerate(NAMES) for tone in TONES[name].split()]
    return _oklab(np.array([list(bytes.fromhex(tone)) for _, tone in tones])), np.array([owner for owner, _ in tones])


def _oklab(rgb: Any) -> Any:
    """Return sRGB colours of shape (n, 3), 0..255, in OKLab, with hue and chroma weighted."""
    import numpy as np

    unit = rgb / 255.0
    linear = np.where(unit <= 0.04045, unit / 12.92, ((unit + 0.055) / 1.055) ** 2.4)
    lab = np.cbrt(linear @ np.array(TO_CONES)) @ np.array(TO_LAB)
    return lab * np.array([1.0, HUE_WEIGHT, HUE_WEIGHT])
