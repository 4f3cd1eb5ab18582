"""Cleaning: text of a model or a file, made plain words on one line."""

import html
import re
import unicodedata

from capabilities.alt_text.engines.text.openers import WORDS

#: Longer texts are cut first, to limit the work: the longest alt text has 500 characters.
LONGEST = 4_000

#: Joiners hold emoji and Indic letters together; all other invisible characters only hide or reorder text.
JOINERS = "\u200c\u200d"
#: Variation selectors, which can hide whole messages behind one letter.
SMUGGLERS = re.compile("[\U000e0100-\U000e01ef]")

TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,300}>|<\|[^|<>]{1,40}\|>|\[/?(?:SEP|CLS|PAD|UNK|MASK|INST|DEC|ENC)\]")
ADDRESS = re.compile(r"\(?\b(?:(?:https?|ftp|file|data|javascript):[^\s)]+|www\.[^\s)]+)\)?", re.IGNORECASE)
LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()]{0,300}\)")
#: `**bold**`, `# Title`, `- item`; not C#, #1 or snake_case.
MARKUP = re.compile(r"\*+|`+|~~+|__+|(?:(?<=\n)|\A)\s*(?:#{1,6}|[-•>])\s+")

LABEL = re.compile("|".join(WORDS["labels"]), re.IGNORECASE)
#: Opening quotes, each with what may close it.
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“”", "‹": "›", "「": "」", "『": "』"}
PAIRS = {")": "(", "]": "[", "}": "{", "”": "“„", "»": "«", "」": "「", "』": "『", "›": "‹"}
OPENING = "([{“„«「『‹"


def clean(text: str) -> str:
    """Return a text without markup, addresses, control characters and labels, in one line; "" when nothing is left."""
    text = unicodedata.normalize("NFC", html.unescape(text[:LONGEST]))
    text = visible(text)
    text = LINK.sub(r"\1", text)
    text = TAG.sub(" ", text)
    text = ADDRESS.sub(" ", text)
    text = MARKUP.sub(" ", text).replace("<", " ").replace(">", " ")
    while (found := LABEL.match(text)) is not None:
        text = text[found.end() :]
    return unquoted(tidy(text))


def visible(text: str) -> str:
    """Return a text without invisible characters and stacks of combining marks; line breaks stay."""
    kept: list[str] = []
    marks = 0
    for character in SMUGGLERS.sub("", text):
        category = unicodedata.category(character)
        marks = marks + 1 if category == "Mn" else 0
        if marks > 3 or (marks and not kept):
            continue
        if category[0] == "C" and character not in JOINERS:
            # A soft hyphen or a mark of direction is dropped; a tab becomes a space.
            kept.append("" if category == "Cf" else character if character == "\n" else " ")
        else:
            kept.append(character)
    return re.sub(f"(?<![^\\s])[{JOINERS}]+|[{JOINERS}]+(?![^\\s])|(?<=[{JOINERS}])[{JOINERS}]+", "", "".join(kept))


def tidy(text: str) -> str:
    """Return a text with single spaces, none before a comma, no empty brackets and no doubled marks."""
    text = re.sub(r"\(\s*\)|\[\s*\]|\{\s*\}", " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" (?=[,.](?:\s|\Z)|[。，、！？])", "", text)
    text = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", text)
    return re.sub(r"\.{2,}", "…", re.sub(r"([!?])\1+", r"\1", text))


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around all of it, and without any that have no partner."""
    while len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES[text[0]] and not _is_two_quotations(text):
        text = text[1:-1].strip()
    return tidy(balanced(text))


def balanced(text: str) -> str:
    """Return a text without brackets and quotation marks that have no partner."""
    opened: list[int] = []
    lonely: set[int] = set()
    for index, character in enumerate(text):
        if character == "“" and opened and text[opened[-1]] == "„":
            opened.pop()
        elif character in OPENING:
            opened.append(index)
        elif character in PAIRS:
            if opened and text[opened[-1]] in PAIRS[character]:
                opened.pop()
            elif not _is_list_number(text, index):
                lonely.add(index)
    lonely.update(opened)
    if text.count('"') % 2:
        lonely.add(text.rindex('"'))
    return "".join(character for index, character in enumerate(text) if index not in lonely)


def _is_two_quotations(text: str) -> bool:
    """Return whether the quotation marks at both ends belong to two quotations."""
    inside = text[1:-1]
    return any(mark in inside for mark in QUOTES[text[0]] if mark not in "’'") or text[0] in inside


def _is_list_number(text: str, index: int) -> bool:
    return text[index] == ")" and index > 0 and text[index - 1].isalnum()
