"""Texture: how a picture's pixels differ from their neighbours, which tells photos from drawings."""

from dataclasses import dataclass
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.colours import shrunk

#: The longest side that is measured, in pixels.
MEASURED_SIDE = 512
#: Differences between neighbours, of 255: up to FAINT is flat (JPEG's noise), above SHARP is an edge.
FAINT, SHARP = 3, 24
#: A difference that a straight edge has at least, and two edges of one line are at most so many pixels apart.
EDGE, LINE_WIDTH = 8, 3


@dataclass(frozen=True, slots=True)
class Texture:
    """How a picture is made.

    `flat`, `soft`: the shares of pixels without, and with a soft difference; `commonest`, `four_commonest`: the shares
    of the tones, of 4,096, that most pixels have; `tones`: those of at least 0.05 % of the pixels.
    """

    flat: float
    soft: float
    commonest: float
    four_commonest: float
    tones: int
    is_grey: bool
    #: Straight edges of at least a fifth of the side: (level, upright).
    rules: tuple[int, int]

    @property
    def is_photographic(self) -> bool:
        """Return whether it has a camera's many soft tones. Measured: photos ≥0.2 soft, graphics ≤0.15."""
        if self.is_grey:
            return self.soft >= 0.16
        return self.soft >= 0.18 and self.tones >= 60 and self.four_commonest <= 0.85

    @property
    def is_plain(self) -> bool:
        """Return whether it has one tone only."""
        return self.commonest > 0.995 and self.tones == 1


def texture_of(image: Image.Image) -> Texture:
    """Measure an RGB picture."""
    import numpy as np

    pixels = np.asarray(shrunk(image, MEASURED_SIDE)).astype(np.int16)
    across, down = np.abs(np.diff(pixels, axis=1)).max(axis=2), np.abs(np.diff(pixels, axis=0)).max(axis=2)
    steps = np.maximum(across[:-1], down[:, :-1]) if min(pixels.shape[:2]) > 1 else np.zeros((1, 1))
    codes = (pixels[..., 0] >> 4 << 8) | (pixels[..., 1] >> 4 << 4) | (pixels[..., 2] >> 4)
    shares = np.sort(np.bincount(codes.ravel(), minlength=4096) / codes.size)[::-1]
    return Texture(
        flat=float((steps <= FAINT).mean()),
        soft=float(((steps > FAINT) & (steps <= SHARP)).mean()),
        commonest=float(shares[0]),
        four_commonest=float(shares[:4].sum()),
        tones=int((shares > 0.0005).sum()),
        is_grey=bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4),
        rules=(_count_rules(down), _count_rules(across.T)),
    )


def _count_rules(steps: Any) -> int:
    """Return how many sharp edges run straight for a fifth of the side or more; `steps` is of shape (lines, side)."""
    import numpy as np

    sharp = (steps > EDGE).astype(np.int32)
    run = longest = np.zeros(sharp.shape[0], dtype=np.int32)
    for column in sharp.T:
        run = (run + 1) * column
        longest = np.maximum(longest, run)
    places = np.flatnonzero(longest >= sharp.shape[1] / 5)
    return int((np.diff(places) > LINE_WIDTH).sum() + 1) if len(places) else 0
