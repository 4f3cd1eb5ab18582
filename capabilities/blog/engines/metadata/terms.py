"""Terms: the stems by which texts are compared."""

import unicodedata
from functools import lru_cache

import regex

from workers.engines.languages.languages import UNSPACED, WORD, Language

_ENDINGS = regex.compile(r"(?<=.{3})(?:en|er|ern|em|io|e|n|a|o|i|ы|и|а|я|у|ов|ам|ах|ами|ях|ями|ой|ом|е)$")

#: A plural's ending is removed first, so that *loans* and *loan* become the same term.
_PLURAL = regex.compile(r"(?<=.{3})(?<!s)s$")

#: The Spanish plural of what ends in -ón: colchones are colchón, estaciones estación.
_SPANISH_PLURAL = regex.compile(r"(?<=.(?:i|ch|z)on)es$")


def terms_of(text: str, language: Language) -> list[str]:
    """Return a text's stems without stop words; in scripts without spaces, all pairs of characters."""
    if language.code in UNSPACED:
        return [text[place : place + 2] for place in range(len(text) - 1) if text[place : place + 2].isalnum()]
    words = (found.group().lower() for found in WORD.finditer(text))
    return [stem(word) for word in words if len(word) > 2 and word not in language.stop]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without accents and the ending of its number or case."""
    bare = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))
    if bare.endswith("ies") and len(bare) > 4:
        bare = bare[:-3] + "y"
    bare = str(_ENDINGS.sub("", _PLURAL.sub("", _SPANISH_PLURAL.sub("", bare))))
    return bare[:-1] + "i" if bare.endswith("y") and len(bare) > 3 else bare
