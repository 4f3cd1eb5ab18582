"""Places: the countries, regions and cities that a text names."""

import tomllib
from collections import Counter
from functools import lru_cache
from pathlib import Path

import regex

from workers.engines.languages.languages import Language

#: Most words of a place's name (Rio de Janeiro), and least characters, fewer in scripts without spaces.
MOST_WORDS = 4
SHORTEST_NAME, SHORTEST_NAME_UNSPACED = 4, 2

_KNOWN = {
    name: frozenset(" ".join(place.split()) for place in listed.split(";"))
    for name, listed in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}

#: Words with a capital letter, and the small words that join them.
_NAMES = regex.compile(
    r"(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}’'-]*"
    r"(?: (?:(?:de|do|da|del|della|di|of|am|an der|la|el|le|les|und|and|y) )?\p{Lu}[\p{L}\p{M}’'-]*)*"
)
_SIMPLE_PLACE = regex.compile(r"^\p{L}[\p{L}\p{M} .’'-]*$")
_CAPITALS = regex.compile(r"\p{Lu}|\p{Ll}")


def places_in(text: str, language: Language) -> Counter[str]:
    names = _names(language.code)
    if _CAPITALS.search(text) is None or language.code in ("zh", "ja", "ko", "th", "ar", "he", "hi", "fa"):
        # Without capitals a name may begin anywhere; the known ones are long enough.
        return Counter({name: count for name in names if (count := text.count(name))})
    found: Counter[str] = Counter()
    for run in _NAMES.finditer(text):
        words = run.group().split()
        start = 0
        while start < len(words):
            size = next((n for n in range(MOST_WORDS, 0, -1) if " ".join(words[start : start + n]) in names), 0)
            if size:
                found[" ".join(words[start : start + size]).lower()] += 1
            start += max(size, 1)
    return found


@lru_cache(maxsize=64)
def _names(code: str) -> frozenset[str]:
    """Return the names of places in a language, and of cities in English and their own."""
    # Here, since it takes a tenth of a second.
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        locale = Locale.parse("en")
    countries = {name for key, name in locale.territories.items() if len(key) == 2}
    zones = {str(zone["city"]) for zone in locale.time_zones.values() if "city" in zone}
    places = (countries | zones | _KNOWN["cities"]) - _KNOWN["ambiguous"]
    shortest = SHORTEST_NAME_UNSPACED if code in ("zh", "ja", "ko") else SHORTEST_NAME
    return frozenset(name for name in places if len(name) >= shortest and _SIMPLE_PLACE.match(name))
