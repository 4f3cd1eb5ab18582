"""Faithful: whether a language model's answer is about the post, or about something that the post told it to say."""

from collections.abc import Mapping
from typing import Any

import regex

from workers.engines.metadata import Post
from workers.engines.metadata.languages import Language
from workers.engines.metadata.terms import terms_of
from workers.engines.metadata.unwanted import ADDRESSES, DISGUISED, INSTRUCTIONS

#: Words of an excerpt that must be the post's, as a share; of a title alone a model has to find words of its own.
LEAST_SHARED, LEAST_SHARED_TITLE = 0.5, 0.1

#: Characters of a text from which it is more than a title.
SHORTEST_TEXT = 200

#: Parts of an address, which a post on addresses may have, and what a model writes better not.
_PARTS = regex.compile(r"\bwww\b|https?\b|\bdotcom\b|\w\s?\.\s?(?:com|net|org|io|ru|cn)\b", regex.IGNORECASE)


def fault(written: Mapping[str, Any], post: Post, language: Language) -> str | None:
    """Return what is wrong with an answer, or None."""
    said = [written["excerpt"], *written["tags"]]
    if any(ADDRESSES.search(text) or DISGUISED.search(text) or _PARTS.search(text) for text in said):
        return "it brought in an address"
    if any(INSTRUCTIONS.search(text) for text in said):
        return "it brought in instructions or markup"
    least = LEAST_SHARED if len(post.text) >= SHORTEST_TEXT else LEAST_SHARED_TITLE
    if _shared(written["excerpt"], f"{post.title}\n{post.text}", language) < least:
        return "it was not about the post"
    return None


def _shared(excerpt: str, source: str, language: Language) -> float:
    terms = set(terms_of(excerpt, language))
    return len(terms.intersection(terms_of(source, language))) / len(terms) if terms else 0.0
