"""Unwanted: addresses, orders to the reader and swear words, which no excerpt and no tag may repeat."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import regex

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _any_of(patterns: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(patterns), regex.IGNORECASE)


#: A host with a path, or one that ends as only hosts do.
_HOST = (
    rf"(?<![\w.-])(?:[\w-]{{1,63}}\.){{1,6}}(?:[a-z]{{2,24}}(?::[0-9]{{1,5}})?/\S*|(?:{_KNOWN['hosts']})\b"
    rf"|(?-i:{''.join(_KNOWN['hosts_in_lower_case'].split())})\b)"
)

#: unwanted.toml explains each.
ADDRESSES, DISGUISED = _any_of([*_KNOWN["addresses"], _HOST]), _any_of(_KNOWN["disguised"])
PROFANE = regex.compile(rf"(?<!\w)(?:{'|'.join(_KNOWN['profane'])})(?!\w)", regex.IGNORECASE)
FILES = _any_of(_KNOWN["files"])
ORDERS, INSTRUCTIONS = _any_of(_KNOWN["orders"]), _any_of([*_KNOWN["orders"], *_KNOWN["instructions"]])


def is_unwanted(text: str) -> bool:
    """Return whether a text has an address, even in disguise, an order to the reader, or a swear word."""
    return any(pattern.search(text) for pattern in (ADDRESSES, DISGUISED, INSTRUCTIONS, PROFANE))
