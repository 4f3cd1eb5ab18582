"""Texture: how a picture is made, by its pixels: whether a camera may have made it, and whether it is of one tone."""

from dataclasses import dataclass

from PIL import Image

from capabilities.alt_text.engines.basic.colours import shrunk

#: Most even pixels of what a camera made, and least of a flat drawing. Measured: photos ≤0.20, drawings ≥0.30.
MOST_EVEN, FLAT = 0.25, 0.45
#: Least soft pixels of a photo in grey and in colour, least tones, and most pixels in its four commonest tones.
#: Measured soft pixels: photos ≥0.2, graphics ≤0.15.
LEAST_SOFT_GREY, LEAST_SOFT, LEAST_TONES, MOST_IN_FOUR_TONES = 0.16, 0.18, 60, 0.85
#: Share of the commonest tone from which on a picture of one tone is plain.
PLAIN = 0.995
#: The longest side that is measured, in pixels.
MEASURED_SIDE = 512
#: Differences between neighbours, of 255: up to FAINT is flat (JPEG's noise), above SHARP is an edge.
FAINT, SHARP = 3, 24


@dataclass(frozen=True, slots=True)
class Texture:
    """`soft`, `even`: shares of pixels with a small, and with no difference to their neighbours.

    `commonest`, `four_commonest`: shares of the commonest of 4,096 tones. `tones`: tones of at least 0.05 % of the
    pixels."""

    soft: float
    even: float
    commonest: float
    four_commonest: float
    tones: int
    is_grey: bool

    @property
    def is_photographic(self) -> bool:
        """True if it has a camera's many soft tones; a painting may have them too."""
        if self.even > MOST_EVEN:
            return False
        if self.is_grey:
            return self.soft >= LEAST_SOFT_GREY
        has_tones = self.tones >= LEAST_TONES and self.four_commonest <= MOST_IN_FOUR_TONES
        return self.soft >= LEAST_SOFT and has_tones

    @property
    def is_flat(self) -> bool:
        """True if it is drawn in even colours."""
        return self.even >= FLAT

    @property
    def is_plain(self) -> bool:
        return self.commonest > PLAIN and self.tones == 1


def texture_of(image: Image.Image) -> Texture:
    import numpy as np

    pixels = np.asarray(shrunk(image, MEASURED_SIDE)).astype(np.int16)
    across, down = np.abs(np.diff(pixels, axis=1)).max(axis=2), np.abs(np.diff(pixels, axis=0)).max(axis=2)
    steps = np.maximum(across[:-1], down[:, :-1]) if min(pixels.shape[:2]) > 1 else np.zeros((1, 1))
    codes = (pixels[..., 0] >> 4 << 8) | (pixels[..., 1] >> 4 << 4) | (pixels[..., 2] >> 4)
    shares = np.sort(np.bincount(codes.ravel(), minlength=4096) / codes.size)[::-1]
    return Texture(
        soft=float(((steps > FAINT) & (steps <= SHARP)).mean()),
        even=float((steps == 0).mean()),
        commonest=float(shares[0]),
        four_commonest=float(shares[:4].sum()),
        tones=int((shares > 0.0005).sum()),
        is_grey=bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4),
    )
