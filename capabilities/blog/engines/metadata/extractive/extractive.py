"""extractive: metadata made of a post's own words, without a model."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Self

import regex

from capabilities.blog.engines.metadata import Metadata, Post
from capabilities.blog.engines.metadata.checks import FEWEST_TAGS, LEAST_CONFIDENCE, finished
from capabilities.blog.engines.metadata.extractive.evidence import without_title_case
from capabilities.blog.engines.metadata.extractive.excerpt import excerpt_of, titled_excerpt
from capabilities.blog.engines.metadata.extractive.sentences import without_orders
from capabilities.blog.engines.metadata.extractive.sorting import sort_post
from capabilities.blog.engines.metadata.extractive.tags import tags_of
from capabilities.blog.engines.metadata.extractive.words import PostWord, words_of
from capabilities.blog.engines.metadata.taxonomy import Taxonomy, load_taxonomy
from capabilities.blog.engines.metadata.unwanted import ADDRESSES
from capabilities.blog.settings import MetadataSettings
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.languages import languages

#: Most characters of a post's text that are read.
LONGEST_TEXT = 40_000

#: Least confidence at which an excerpt made of a title names the category.
SURE_CONFIDENCE = 0.5

#: Tags that stand before the category's.
FIRST_TAGS = 3

#: Least characters of paragraphs for an excerpt from paragraphs alone.
SHORTEST_PROSE = 60


#: The last part of a title: anything behind a bar, up to four words with capitals behind a dash.
_SITE = regex.compile(r"(?<=\S)\s+(?:\|[^|]+|[–—-]\s+((?:(?:\p{Lu}|\d)\S*\s?){1,4}))$")


class Extractive:
    """An early passage for the excerpt, cues for the category, names and rare words for the tags."""

    name = "extractive"

    def __init__(self, categories: str | None = None) -> None:
        self._categories = categories

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings.of(MetadataSettings).categories)

    def readiness(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def setup(self) -> None:
        """Load the taxonomy; the first post loads the languages. Raises NotReady."""
        _ = self.taxonomy

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return load_taxonomy(self._categories)

    def write(self, post: Post, *, stop: Callable[[], bool] = never) -> Metadata:
        """Return a post's metadata. Raises Stopped."""
        text = without_orders(post.text[:LONGEST_TEXT])
        written = _without_site(post.title, text)
        language = languages.language_of(written, text, post.language)
        words = list(_words_of_lines(text, language))
        counts = Counter(word.lower for word in words if word)
        found = sort_post(written, text, counts, language, self.taxonomy)
        if stop():
            raise Stopped
        tags = tags_of(written, words, language, found)
        own = self.taxonomy.own_tags(found.category, language.taxonomy)
        if stop():
            raise Stopped
        is_sure = found.confidence >= LEAST_CONFIDENCE
        subject = own[0] if own and found.category != self.taxonomy.fallback and is_sure else None
        # An address would be taken out of the excerpt.
        title = " ".join(ADDRESSES.sub(" ", written).split())
        whole = titled_excerpt(title, None, language)
        named = _as_subject(subject, language.code) if subject else None
        category = [subject] if subject and found.confidence >= SURE_CONFIDENCE else []
        # More than five are there only if all are sure.
        sure = tags if len(tags) > FEWEST_TAGS or not category else tags[:FIRST_TAGS]
        return finished(
            excerpts=[
                excerpt_of(written, _prose(post, text), language) if text else None,
                titled_excerpt(title, named if found.confidence >= SURE_CONFIDENCE else None, language),
                whole,
                f"{title} – {found.category}." if title else None,
            ],
            category=found.category,
            tags=[*sure[:FIRST_TAGS], *category, *sure[FIRST_TAGS:]],
            spare_tags=tags,
            taxonomy=self.taxonomy,
            language=language.taxonomy,
            category_confidence=found.confidence,
        )


def _without_site(title: str, text: str) -> str:
    """Return a title without the name of its web site: its last part behind a sign, which the text lacks."""
    while text and (found := _SITE.search(title)):
        if found[1] and any(word in text for word in found[1].split()):
            break
        title = title[: found.start()]
    return title


def _prose(post: Post, text: str) -> str:
    """Return the paragraphs of a post, or all of its text if they are short."""
    prose = without_orders(post.prose[:LONGEST_TEXT])
    return prose if len(prose) >= SHORTEST_PROSE else text


def _words_of_lines(text: str, language: languages.Language) -> Iterator[PostWord | None]:
    """Yield a text's words, and None after each line; capitals in title case show no name, except in German."""
    for line in text.split("\n"):
        words = list(words_of(line, language))
        yield from words if language.code == "de" else without_title_case(words)
        yield None


def _as_subject(tag: str, code: str) -> str:
    """Return a tag as sentences write it: German nouns have a capital."""
    if tag == "diy":
        return "DIY"
    if code == "de":
        return " ".join(word if word == "und" else word[:1].upper() + word[1:] for word in tag.split())
    return tag
