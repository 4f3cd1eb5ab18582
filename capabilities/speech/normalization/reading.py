"""Reading: the words that are said for a written text, such as "ten million dollars" for $10 million."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from capabilities.speech.normalization import addresses, amounts, dates, markup, numerals, signs
from capabilities.speech.normalization.language import Rule, SpokenLanguage, language_of
from pipeline.log import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text and the words for it, which are the same if nothing changes."""

    source: str
    spoken: str


def read(text: str, language: str) -> list[Span]:
    """Return the text in spans, whose joined sources are the text. `language` is a tag such as pt-BR.

    Text in a language without rules (a file in languages/ with numbers), or that no rule is sure of, stays as it is."""
    rules = _rules(language)
    if not rules:
        return [Span(text, text)] if text else []
    spans, end = [], 0
    for start, stop, spoken in _claims(text, rules):
        if start > end:
            spans.append(Span(text[end:start], text[end:start]))
        spans.append(Span(text[start:stop], spoken))
        end = stop
    if end < len(text):
        spans.append(Span(text[end:], text[end:]))
    return spans


def spoken_form(text: str, language: str) -> str:
    """Return the words for a text."""
    return joined(read(text, language))


def joined(spans: Sequence[Span]) -> str:
    """Return the spoken side of spans."""
    return "".join(span.spoken for span in spans)


def _claims(text: str, rules: Sequence[tuple[Rule, SpokenLanguage]]) -> list[tuple[int, int, str]]:
    """Return start, end and words of each replaced piece, in order. A rule gets what earlier rules left."""
    taken = bytearray(len(text))
    claims = []
    for rule, language in rules:
        for found in rule.pattern.finditer(text):
            start, stop = found.span()
            if any(taken[start:stop]) or start == stop:
                continue
            spoken = _said(rule, found, language)
            if spoken is not None:
                claims.append((start, stop, spoken))
                taken[start:stop] = b"\1" * (stop - start)
    return sorted(claims)


def _said(rule: Rule, found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return the words of a rule; None if it fails, since a text is better read as written than not at all."""
    try:
        return rule.say(found, language)
    except (ArithmeticError, LookupError, ValueError) as error:
        # Without the text of the error, which may quote the user's.
        log.warning(
            "reading rule failed", rule=rule.say.__qualname__, language=language.code, error=type(error).__name__
        )
        return None


@cache
def _rules(tag: str) -> list[tuple[Rule, SpokenLanguage]]:
    """Return the rules of a language, the surest first."""
    language = language_of(tag)
    if language is None:
        return []
    families = (
        *(markup.rules, addresses.rules, dates.rules, addresses.phone_rules),
        *(amounts.rules, numerals.rules, signs.rules),
    )
    return [(rule, language) for family in families for rule in family(language)]
