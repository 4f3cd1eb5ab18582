"""Boilerplate: what stands in a post beside its text, such as credits, share bars and newsletters."""

import tomllib
from pathlib import Path

import regex

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

#: Characters of a line that is boilerplate at most; a longer one is a paragraph that begins alike.
LONGEST_LINE, LONGEST_WITHIN = 320, 160

#: Characters of a heading that opens a section of boilerplate or steps.
LONGEST_HEADING = 60

#: Signs that may stand before a line's first word; atomic, or a line of dashes would be tried from each of them.
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
    """Return whether a line is no text of the post's: a credit, a byline, a share bar, an offer to subscribe."""
    if len(line) > LONGEST_LINE:
        return False
    line = line.replace("'", "’")
    return _BEGIN.search(line) is not None or (len(line) <= LONGEST_WITHIN and _WITHIN.search(line) is not None)


def is_step(line: str) -> bool:
    """Return whether a line is a numbered step of a manual."""
    return _STEP.search(line) is not None


def opens_boilerplate(heading: str) -> bool:
    """Return whether what stands under a heading is no text of the post's."""
    return len(heading) <= LONGEST_HEADING and _SECTIONS.fullmatch(heading) is not None


def opens_procedure(heading: str) -> bool:
    """Return whether under a heading stands what to take and to do."""
    return len(heading) <= LONGEST_HEADING and _PROCEDURES.fullmatch(heading) is not None


def is_named_boilerplate(names: str) -> bool:
    """Return whether an element's class or id, as written, is one of boilerplate."""
    for name in names.lower().replace("_", "-").split():
        if name in _CLASSES or not _CLASSES.isdisjoint(name.split("-")):
            return True
    return False
