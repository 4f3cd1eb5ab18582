"""Shaping: whether this machine can set scripts whose letters join, stack, or are written from right to left."""

import re
from typing import Any

from PIL import features

#: What must be installed beside the packages: Pillow's wheels bring everything for it but this library.
NEEDED = "libfribidi (on Debian: apt-get install libfribidi0)"

#: Marks on letters; Hebrew to Syriac and their kin; India's, Thailand's and their neighbours' scripts; joiners.
_SHAPED = re.compile(
    "[\u0300-\u036f\u0590-\u08ff\u0900-\u109f\u1780-\u18af\u1900-\u1cff\u200c\u200d\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufeff]"
)


def can_shape() -> bool:
    """Return whether any script can be set; without, those can whose letters stand side by side."""
    return bool(features.check("raqm"))


def unshaped(text: str) -> str:
    """Return the characters of a text that need shaping, each once; none where all can be set."""
    return "" if can_shape() else "".join(dict.fromkeys(_SHAPED.findall(text)))


def raqm_options(direction: str, language: str | None) -> dict[str, Any]:
    """Return Pillow's options for a text's direction and language; without shaping it takes neither."""
    return {"direction": direction, "language": language} if can_shape() else {}
