"""Language data: what is known of each language, from its file in languages/."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("languages")


@cache
def language_data(language: str) -> Mapping[str, Any]:
    """Return the tables of a language's file; none for a language without one. `language` is a code such as pt."""
    # An allow-list, and not a path made of what a request says.
    if language not in known_languages():
        return {}
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


@cache
def known_languages() -> frozenset[str]:
    """Return the codes of the languages that have a file."""
    return frozenset(file.stem for file in FOLDER.glob("*.toml"))


@cache
def unit_spellings() -> Mapping[str, str]:
    """Return how units are written in any language, with CLDR's name of each."""
    return tomllib.loads(Path(__file__).with_name("units.toml").read_text("utf-8"))
