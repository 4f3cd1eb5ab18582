"""Openers: "an image of", "la photo montre", and the like, with which no alt text begins; words.toml has them."""

import re
import tomllib
from pathlib import Path
from typing import Any

#: The file of words and patterns.
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{{(\w+)}}", lambda part: str(WORDS["parts"][part[1]]), pattern), re.IGNORECASE)


OPENERS = [_compiled(pattern) for patterns in WORDS["openers"].values() for pattern in patterns]


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
    """Return what followed an opener with the article that it needs at the start of a sentence."""
    if language != "de":
        return str(WORDS["articles"][language].get(preposition, "")) + rest
    article, space, others = rest.partition(" ")
    if article.lower() == "einen":
        # The accusative tells the gender: "einen kleinen Hund" was "ein kleiner Hund".
        others = re.sub(r"\A((?:[a-zäöüß]+en )*)", lambda found: re.sub(r"en\b", "er", found[1]), others)
    return str(WORDS["german_cases"].get(article.lower(), article)) + space + others
