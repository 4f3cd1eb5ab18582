"""Checks: what every engine's metadata passes last, so that it has the promised form whatever the post was."""

import unicodedata
from collections.abc import Iterable, Sequence

import regex

from capabilities.blog.engines.metadata import Metadata
from capabilities.blog.engines.metadata.plain import visible
from capabilities.blog.engines.metadata.taxonomy import LONGEST_TAG, SHORTEST_TAG, Taxonomy
from capabilities.blog.engines.metadata.terms import stem
from capabilities.blog.engines.metadata.unwanted import ADDRESSES, FILES, PROFANE

#: Characters of an excerpt, and how many tags a post has (docs/blog.md).
SHORTEST_EXCERPT, LONGEST_EXCERPT = 20, 200
FEWEST_TAGS, MOST_TAGS = 5, 8

#: How sure a category must be to give a tag.
LEAST_CONFIDENCE = 0.4

#: Tags that are true of any post, for one that nothing can be told of, in a taxonomy without tags of its own.
LAST_TAGS = ("blog", "blog post", "post", "article", "text")

#: Characters kept of an excerpt that is cut at a sentence; a shorter one is cut at a word instead.
SHORTEST_CUT = 80

_MARKUP = regex.compile(r"</?[a-zA-Z!][^<>]{0,300}>|[<>{}\[\]|\\`]|(?<!\w)[*_#~]{1,3}|[*_~]{1,3}(?!\w)")
_SENTENCE = regex.compile(r"[.!?…؟।][\"'”’»)]*(?=\s|$)|[。！？][」』”）]*")
_LOOSE = regex.compile(r"[\s,;:–—(\"“«、，；-]+$")
_EDGE = regex.compile(r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}+#]+$")


def cut(text: str) -> str:
    """Return at most 200 characters of a text, cut at a sentence's end, else at a word's or character's with …."""
    if len(text) <= LONGEST_EXCERPT:
        return text
    found = (end.end() for end in _SENTENCE.finditer(text, 0, LONGEST_EXCERPT + 1))
    if ends := [end for end in found if SHORTEST_CUT <= end <= LONGEST_EXCERPT]:
        return text[: max(ends)]
    room = text[: LONGEST_EXCERPT - 1]
    space = max((found.start() for found in regex.finditer(r"[\s　]|(?<=[、，；])", room)), default=0)
    if space < LONGEST_EXCERPT // 2 and not text[LONGEST_EXCERPT - 1].isspace():
        # No word ends there: Chinese, say, or a word without end. A character is never cut in two.
        return "".join(_characters(room, text))[: LONGEST_EXCERPT - 1].rstrip() + "…"
    kept = room if text[LONGEST_EXCERPT - 1].isspace() else room[:space]
    return str(_LOOSE.sub("", kept)) + "…"


def _characters(room: str, text: str) -> list[str]:
    """Return the whole characters of the start of a text."""
    found: list[str] = regex.findall(r"\X", room)
    # The last one may go on behind the room.
    whole = regex.match(r"\X", text, pos=len(room) - len(found[-1])) if found else None
    return found if whole is None or len(whole.group()) <= len(found[-1]) or len(found) == 1 else found[:-1]


def clean_excerpt(text: str) -> str:
    """Return a text in one line, without addresses, markup and what no reader sees, and cut to its limit."""
    text = _MARKUP.sub(" ", ADDRESSES.sub(" ", visible(text)))
    text = regex.sub(r"\s+([.,…])", r"\1", " ".join(text.split()))
    return cut(text).strip()


def clean_tag(text: str) -> str | None:
    """Return a tag in its form, or None where nothing of it can be one."""
    if any(pattern.search(text) for pattern in (ADDRESSES, FILES, PROFANE)):
        return None
    tag = _EDGE.sub("", " ".join(_MARKUP.sub(" ", visible(text)).split()).replace("İ", "i").lower())
    tag = unicodedata.normalize("NFC", tag)
    if not SHORTEST_TAG <= len(tag) <= LONGEST_TAG or regex.search(r"\p{L}", tag) is None or tag != tag.lower():
        return None
    return tag


def unique_tags(tags: Iterable[str], most: int = MOST_TAGS) -> tuple[str, ...]:
    """Return the tags that can stand, each once, whatever its number or case."""
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

    If there are fewer than five tags, the spare ones, what the category is called, and the fallback's are added."""
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
