"""Boilerplate: credits, share bars, newsletter offers and other lines that are not the post's text."""

import tomllib
from pathlib import Path

import regex

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

#: Most characters of a boilerplate line, and of a heading above boilerplate or steps.
LONGEST_LINE, LONGEST_WITHIN, LONGEST_HEADING = 320, 160, 60

#: Signs before a line's first word; atomic, or a line of dashes would be tried from each dash.
_SIGNS = "(?>(?:(?![©★☆⭐])[\\W_]){0,12})"
_BEGIN = regex.compile(rf"^{_SIGNS}(?:{'|'.join(_KNOWN['begin'])})", regex.IGNORECASE)
_WITHIN = regex.compile("|".join(_KNOWN["within"]), regex.IGNORECASE)
_STEP = regex.compile(rf"^{_SIGNS}{_KNOWN['steps']}", regex.IGNORECASE)
_SECTIONS, _PROCEDURES = (
    regex.compile(rf"[\W\d_]*(?:{'|'.join(_KNOWN[name])})[\W_]*", regex.IGNORECASE)
    for name in ("sections", "procedures")
)
_CLASSES = frozenset(_KNOWN["classes"].split())


def is_boilerplate(line: str) -> bool:
    """Return whether a line is a credit, a byline, a share bar, an offer to subscribe or the like."""
    if len(line) > LONGEST_LINE:
        return False
    line = line.replace("'", "’")
    return _BEGIN.search(line) is not None or (len(line) <= LONGEST_WITHIN and _WITHIN.search(line) is not None)


def is_step(line: str) -> bool:
    return _STEP.search(line) is not None


def opens_boilerplate(heading: str) -> bool:
    return len(heading) <= LONGEST_HEADING and _SECTIONS.fullmatch(heading) is not None


def opens_procedure(heading: str) -> bool:
    return len(heading) <= LONGEST_HEADING and _PROCEDURES.fullmatch(heading) is not None


def is_named_boilerplate(names: str) -> bool:
    for name in names.lower().replace("_", "-").split():
        if name in _CLASSES or not _CLASSES.isdisjoint(name.split("-")):
            return True
    return False
