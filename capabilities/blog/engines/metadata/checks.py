"""Checks: the last step of every engine, which gives its metadata the promised form."""

import unicodedata
from collections.abc import Iterable, Sequence

import regex

from capabilities.blog.engines.metadata import Metadata
from capabilities.blog.engines.metadata.plain import visible
from capabilities.blog.engines.metadata.taxonomy import LONGEST_TAG, SHORTEST_TAG, Taxonomy
from capabilities.blog.engines.metadata.terms import stem
from capabilities.blog.engines.metadata.unwanted import ADDRESSES, FILES, PROFANE

#: Characters of an excerpt, and tags of a post (docs/blog.md).
SHORTEST_EXCERPT, LONGEST_EXCERPT = 20, 200
FEWEST_TAGS, MOST_TAGS = 5, 8

#: Least confidence at which a category gives a tag.
LEAST_CONFIDENCE = 0.4

#: Tags that are true of any post, for taxonomies without tags.
LAST_TAGS = ("blog", "blog post", "post", "article", "text")

#: Least characters left when an excerpt is cut at a sentence's end; else it is cut at a word.
SHORTEST_CUT = 80

_MARKUP = regex.compile(r"</?[a-zA-Z!][^<>]{0,300}>|[<>{}\[\]|\\`]|(?<!\w)[*_#~]{1,3}|[*_~]{1,3}(?!\w)")
_SENTENCE = regex.compile(r"[.!?…؟।][\"'”’»)]*(?=\s|$)|[。！？][」』”）]*")
_LOOSE = regex.compile(r"[\s,;:–—(\"“«、，；-]+$")
_EDGE = regex.compile(r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}+#]+$")


def cut(text: str) -> str:
    """Return at most 200 characters of a text, cut at a sentence, else at a word or character with …."""
    if len(text) <= LONGEST_EXCERPT:
        return text
    found = (end.end() for end in _SENTENCE.finditer(text, 0, LONGEST_EXCERPT + 1))
    if ends := [end for end in found if SHORTEST_CUT <= end <= LONGEST_EXCERPT]:
        return text[: max(ends)]
    room = text[: LONGEST_EXCERPT - 1]
    space = max((found.start() for found in regex.finditer(r"[\s　]|(?<=[、，；])", room)), default=0)
    if space < LONGEST_EXCERPT // 2 and not text[LONGEST_EXCERPT - 1].isspace():
        # No word ends there, as in Chinese. A character with its marks is never cut in two.
        ends = [found.end() for found in regex.finditer(r"\X", text[: 2 * LONGEST_EXCERPT])]
        whole = max((end for end in ends if end < LONGEST_EXCERPT), default=LONGEST_EXCERPT - 1)
        return text[:whole].rstrip() + "…"
    kept = room if text[LONGEST_EXCERPT - 1].isspace() else room[:space]
    return str(_LOOSE.sub("", kept)) + "…"


def clean_excerpt(text: str) -> str:
    """Return a text in one line, cut to its limit, without addresses, markup and invisible characters."""
    text = _MARKUP.sub(" ", ADDRESSES.sub(" ", visible(text)))
    text = regex.sub(r"\s+([.,…])", r"\1", " ".join(text.split()))
    return cut(text).strip()


def clean_tag(text: str) -> str | None:
    if any(pattern.search(text) for pattern in (ADDRESSES, FILES, PROFANE)):
        return None
    tag = _EDGE.sub("", " ".join(_MARKUP.sub(" ", visible(text)).split()).replace("İ", "i").lower())
    tag = unicodedata.normalize("NFC", tag)
    if not SHORTEST_TAG <= len(tag) <= LONGEST_TAG or regex.search(r"\p{L}", tag) is None or tag != tag.lower():
        return None
    return tag


def unique_tags(tags: Iterable[str], most: int = MOST_TAGS) -> tuple[str, ...]:
    kept: dict[tuple[str, ...], str] = {}
    for written in tags:
        tag = clean_tag(written)
        if tag is None or tag in kept.values():
            continue
        kept.setdefault(tuple(sorted(stem(word) for word in tag.split())), tag)
        if len(kept) == most:
            break
    return tuple(kept.values())


def finished(
    *,
    excerpts: Sequence[str | None],
    category: str,
    tags: Iterable[str],
    spare_tags: Iterable[str] = (),
    taxonomy: Taxonomy,
    language: str,
    category_confidence: float = 0.0,
) -> Metadata:
    """Return metadata within all limits: the first excerpt that is long enough, and the first eight tags.

    If there are fewer than five, spare tags, the category's name and the fallback's tags are added."""
    if category not in taxonomy.names:
        category, category_confidence = taxonomy.fallback, 0.0
    kept = unique_tags(tags)
    if len(kept) < FEWEST_TAGS:
        is_sure = category_confidence >= LEAST_CONFIDENCE
        spare = [*spare_tags, *taxonomy.spare_tags(category if is_sure else taxonomy.fallback, language), *LAST_TAGS]
        kept = unique_tags([*kept, *spare], FEWEST_TAGS)
    cleaned = [clean_excerpt(excerpt) for excerpt in excerpts if excerpt]
    excerpt = next((text for text in cleaned if len(text) >= SHORTEST_EXCERPT), f"A post in the category {category}.")
    return Metadata(excerpt=excerpt, category=category, tags=kept, category_confidence=round(category_confidence, 2))
