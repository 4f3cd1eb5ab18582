"""Rule: a pattern of what is not read as it is written, and what is said for it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from capabilities.speech.normalization.language import SpokenLanguage


@dataclass(frozen=True, slots=True)
class Rule:
    """`say` returns what is said for a match, or None: the text stays as it is.

    Patterns read no character twice without a bound, so that no text makes them slow."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str], SpokenLanguage], str | None]
    #: Characters of which a text must have one, so that most rules don't look at most texts; none: all look.
    needs: frozenset[str] = frozenset()


DIGITS = frozenset("0123456789")


def one_of(words: "list[str] | tuple[str, ...]") -> str:
    """Return a pattern of words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or r"(?!)"
