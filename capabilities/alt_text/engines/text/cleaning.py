"""Text of a model or a file, made plain words on one line, without openers ("an image of") and repetitions."""

import html
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{{(\w+)}}", lambda part: str(WORDS["parts"][part[1]]), pattern), re.IGNORECASE)


OPENERS = [_compiled(pattern) for patterns in WORDS["openers"].values() for pattern in patterns]
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
LONGEST_PHRASE = 40
#: So many words in a row, if repeated, are a loop. With 5, "a man in a red shirt and a man in a red hat" would be cut.
TELLTALE = 6

#: "A dog and a dog" says no more than "a dog".
CONJUNCTIONS = {"and", "y", "et", "und", "e"}

STUTTER = re.compile(r"([^\W\d_]{2,6}?)\1{3,}|([^\W\d_])\2{3,}")
#: Also marks: "- - - -", "! ? ! ?".
LONE_MARKS = re.compile(r"(?:(?<=\s)|\A)(?:[^\w\s&+–—-]\s+){2,}")


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


def without_opener(sentence: str) -> str:
    """Return a sentence without the words that only say that there is a picture; "" when it has no others."""
    while (cut := _cut_once(sentence)) != sentence:
        sentence = cut
    return sentence


def _cut_once(sentence: str) -> str:
    for opener in OPENERS:
        found = opener.match(sentence)
        if found is None:
            continue
        rest = sentence[found.end() :]
        if rest[:1].isalnum() and found[0][-1] not in "'’ ":
            continue  # in the middle of a word
        rest = rest.lstrip(" ,:;-–—")
        for language, preposition in found.groupdict().items():
            if preposition is not None:
                rest = _with_article(rest, language, preposition.lower())
        return rest
    return sentence


def _with_article(rest: str, language: str, preposition: str) -> str:
    """Return the rest after an opener, with the article that it needs at the start of a sentence."""
    if language != "de":
        return str(WORDS["articles"][language].get(preposition, "")) + rest
    article, space, others = rest.partition(" ")
    if article.lower() == "einen":
        # The accusative tells the gender: "einen kleinen Hund" was "ein kleiner Hund".
        others = re.sub(r"\A((?:[a-zäöüß]+en )*)", lambda found: re.sub(r"en\b", "er", found[1]), others)
    return str(WORDS["german_cases"].get(article.lower(), article)) + space + others


def without_repeats(text: str) -> str:
    """Return a text in which no phrase is repeated right after itself, cut where it begins to loop."""
    text = STUTTER.sub(lambda found: found[1] or found[2], text)
    words = LONE_MARKS.sub("", text).split(" ")
    while (fewer := _shortened(words)) != words:
        words = fewer
    return " ".join(words)


def _shortened(words: list[str]) -> list[str]:
    said = [_bare(word) for word in words]
    for length in range(min(LONGEST_PHRASE, len(words) // 2), 0, -1):
        for start in range(len(words) - 2 * length + 1):
            middle, end = start + length, start + 2 * length
            if said[start:middle] == said[middle:end] and _is_repeat(words[start:end], length):
                # The last word of the second, with the punctuation before what follows.
                return [*words[: middle - 1], words[end - 1], *words[end:]]
            if length > 1 and said[start:middle] == said[middle + 1 : end + 1] and said[middle] in CONJUNCTIONS:
                return [*words[: middle - 1], words[end], *words[end + 1 :]]
    return _unlooped(words, said)


def _is_repeat(words: list[str], length: int) -> bool:
    """Return whether a doubled phrase is a fault, and not a name (Bora Bora) or a number (10 10)."""
    if not any(character.isalpha() for word in words[:length] for character in word):
        # Doubled punctuation is a fault; equal numbers are not.
        return not any(character.isalnum() for word in words[:length] for character in word)
    return length > 1 or not (words[0][0].isupper() and words[1][0].isupper())


def _unlooped(words: list[str], said: list[str]) -> list[str]:
    first_at: dict[tuple[str, ...], int] = {}
    for start in range(len(words) - TELLTALE + 1):
        phrase = tuple(said[start : start + TELLTALE])
        if phrase in first_at:
            return words[:start]
        first_at[phrase] = start
    return words


def _bare(word: str) -> str:
    return re.sub(r"\W+", "", word).casefold() or word
