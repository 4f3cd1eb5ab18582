"""Commonness: how often a word occurs in its language, by the lists of wordfreq."""

import math
from functools import cache

from workers.engines.languages.languages import simplified

#: Commonness of the rarest listed word, one in a million, and of a word in no list.
LEAST, UNLISTED = 3.0, 2.0


def commonness(word: str, code: str) -> float:
    """Return how often a word in lower case occurs per billion words, as a logarithm to base 10."""
    frequency = frequencies(code).get(simplified(word) if code == "zh" else word)
    return math.log10(frequency * 1e9) if frequency else UNLISTED


@cache
def frequencies(code: str) -> dict[str, float]:
    """Return the share of each listed word of a language (40 languages; 20 ms and 4 MB each); empty for others."""
    # Here, since it takes a quarter of a second.
    from wordfreq import available_languages, get_frequency_dict

    return get_frequency_dict(code, "small") if code in available_languages("small") else {}
