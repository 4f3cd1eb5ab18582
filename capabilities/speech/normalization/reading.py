"""Reading: the words that a reader says for a written text, such as "ten million dollars" for $10 million."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from capabilities.speech.normalization import addresses, amounts, dates, numerals, phones, signs
from capabilities.speech.normalization.language import SpokenLanguage, language_of
from capabilities.speech.normalization.rule import Rule
from pipeline.log import get_logger

log = get_logger(__name__)

#: Without one of these a text is read as it is written: digits and signs, words in capitals or with a full stop inside.
READ_OTHERWISE = re.compile(r"[^\w\s.,;:!?'\"’“”()\-]|\d|[_.]\w|\b[IVX]{1,7}\b|\w\.[\s,)]|-[ \t]?-[ \t]?-", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, and what is said for it; the same where nothing is to be changed."""

    source: str
    spoken: str


def read(text: str, language: str) -> list[Span]:
    """Return the text in spans whose sources, joined, are the text. `language` is a tag such as pt-BR.

    Texts in a language without rules (a file in languages/ with numbers) stay as they are. So does what no rule is
    sure of."""
    rules = _rules(language)
    if not rules or not READ_OTHERWISE.search(text):
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
    """Return what is said for a text."""
    return joined(read(text, language))


def joined(spans: Sequence[Span]) -> str:
    """Return the spoken side of spans."""
    return "".join(span.spoken for span in spans)


def _claims(text: str, rules: Sequence[tuple[Rule, SpokenLanguage]]) -> list[tuple[int, int, str]]:
    """Return start, end and words of what is read otherwise, in order; a rule gets what those before it left."""
    taken = bytearray(len(text))
    claims = []
    present = set(text)
    for rule, language in rules:
        if rule.needs and rule.needs.isdisjoint(present):
            continue
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
    """Return what a rule says; None where it fails: a text is better read as it is written than not at all."""
    try:
        return rule.say(found, language)
    except (ArithmeticError, LookupError, ValueError) as error:
        # Without the error's text: it may have the user's.
        log.warning(
            "reading rule failed", rule=rule.say.__qualname__, language=language.code, error=type(error).__name__
        )
        return None


@cache
def _rules(tag: str) -> list[tuple[Rule, SpokenLanguage]]:
    """Return the rules of a language, those that are surest first."""
    language = language_of(tag)
    if language is None:
        return []
    made = [
        rules for module in (addresses, dates, phones, amounts, numerals, signs) for rules in module.rules(language)
    ]
    return [(rule, language) for rule in made]
