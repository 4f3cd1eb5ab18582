"""Prompts: the instructions to a chat model about a picture, one text a mode."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from capabilities.alt_text.engines import Hints, Mode
from capabilities.alt_text.engines.generation.looking import Fault, bare
from capabilities.alt_text.engines.text.cleaning import clean
from workers.models.catalogue import read_catalogue

FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("vlm.toml").read_text("utf-8"))
NAMES: dict[str, str] = FILE["names"]
#: A model's answer for an ornament, if the request allows it.
DECORATIVE = "decorative"
FENCE = "~~~"
#: Signs that templates and tokenizers may take for marks of their own, and the fence.
MARKS = str.maketrans(dict.fromkeys("<>[]{}|~`", " "))
#: Most characters of the text that OCR found: a page would hide the question.
MOST_READ = 600

#: Languages in scripts of which a token holds one letter or less.
DENSE = frozenset(FILE["dense"].split())
MOST_TOKENS: dict[Mode, int] = {"short": 48, "seo": 64, "long": 160}
#: Times as many for DENSE languages, whose texts would be cut off otherwise.
DENSE_TIMES = 2


def languages_of(model: str) -> list[str]:
    """Return the languages that a model writes: the catalogue's, or all that prompts can name."""
    known = read_catalogue().get(model)
    return list(known.languages or NAMES) if known is not None else list(NAMES)


def most_tokens(mode: Mode, language: str) -> int:
    return MOST_TOKENS[mode] * (DENSE_TIMES if language in DENSE else 1)


def prompt_of(
    mode: Mode, language: str, hints: Hints, *, faults: Sequence[Fault] = (), read: Sequence[str] | None = None
) -> str:
    """Return the prompt. `faults` of an earlier answer and what OCR has `read` make it one for a second look."""
    parts = [FILE["prompts"][mode], FILE["rules"].strip(), _examples(mode)]
    return "\n\n".join([*parts, *_about(hints, faults, read), FILE["answer"].format(language=language_name(language))])


def json_instructions(modes: Sequence[Mode]) -> str:
    """Return the instructions before a picture of which a model writes several texts as one JSON object."""
    asked = [f'"{mode}": {FILE["prompts"][mode]}\n{_examples(mode)}' for mode in modes]
    return "\n\n".join([FILE["rules"].strip(), FILE["json"], *asked])


def picture_question(
    language: str, hints: Hints, *, faults: Sequence[Fault] = (), read: Sequence[str] | None = None
) -> str:
    """Return the question after the picture."""
    asked = FILE["json_answer"].format(language=language_name(language))
    return "\n\n".join([*_about(hints, faults, read), asked])


def _examples(mode: Mode) -> str:
    return "\n".join([FILE["style"], *(f"- {example}" for example in FILE["examples"][mode])])


def _about(hints: Hints, faults: Sequence[Fault], read: Sequence[str] | None) -> list[str]:
    parts = []
    if said := _page(hints):
        parts.append(_fenced(FILE["page"], said))
    if faults:
        parts.append(FILE["again"].format(faults=", ".join(FILE["faults"][fault] for fault in faults)))
    if read is not None:
        parts.append(_fenced(FILE["read"], [_plain(" / ".join(read))[:MOST_READ]]) if read else FILE["read_nothing"])
    if hints.allow_decorative:
        parts.append(FILE["decorative"])
    return parts


def language_name(code: str) -> str:
    """Return a language's name in English, and in itself where that is another: "German (Deutsch)"."""
    from babel import Locale, UnknownLocaleError

    try:
        own = Locale.parse(code).get_language_name(code)
    except (UnknownLocaleError, ValueError):
        own = None
    return NAMES[code] if own in (None, NAMES[code]) else f"{NAMES[code]} ({own})"


def is_decorative(text: str) -> bool:
    return "".join(filter(str.isalpha, text)).casefold() == DECORATIVE


def is_example(text: str) -> bool:
    """Return whether a model copied one of the examples that show it the style."""
    said = bare(text)
    return any(bare(example) in said for examples in FILE["examples"].values() for example in examples)


def _page(hints: Hints) -> list[str]:
    values = {"title": hints.page_title, "keywords": ", ".join(hints.keywords), "context": hints.context}
    return [FILE[name].format(value=plain) for name, value in values.items() if (plain := _plain(value))]


def _plain(text: str) -> str:
    """Return a text of others without anything that could end its fence, or be taken for a template's mark."""
    return " ".join(clean(text).translate(MARKS).split())


def _fenced(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, FENCE, *lines, FENCE])
