"""Writer: metadata by a language model, checked against the post; what can't be used is extracted instead."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Self

import regex
from pydantic import BaseModel, ConfigDict, ValidationError

from capabilities.blog.engines.metadata import Metadata, Post
from capabilities.blog.engines.metadata.checks import finished
from capabilities.blog.engines.metadata.extractive.extractive import LONGEST_TEXT, Extractive
from capabilities.blog.engines.metadata.extractive.sentences import without_orders
from capabilities.blog.engines.metadata.terms import terms_of
from capabilities.blog.engines.metadata.unwanted import ADDRESSES, DISGUISED, INSTRUCTIONS, PROFANE
from pipeline.log import get_logger
from workers.engines import Stopped, never
from workers.engines.languages import languages
from workers.engines.languages.languages import Language

#: Words of an excerpt that must be the post's, as a share; of a title alone a model has to find words of its own.
LEAST_SHARED, LEAST_SHARED_TITLE = 0.5, 0.1

#: Characters of a text from which it is more than a title.
SHORTEST_TEXT = 200

#: Parts of an address, which a post on addresses may have, and what a model writes better not.
_PARTS = regex.compile(r"\bwww\b|https?\b|\bdotcom\b|\w\s?\.\s?(?:com|net|org|io|ru|cn)\b", regex.IGNORECASE)

_NUMBERS = regex.compile(r"\d+")


class ModelAnswer(BaseModel):
    """The model's answer, not checked against the post."""

    model_config = ConfigDict(strict=True)
    excerpt: str
    category: str
    tags: list[str]

    @classmethod
    def parsed(cls, text: str) -> Self | None:
        """Return an answer from its JSON; None: it is cut off, or by a model that no schema could hold."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None

    def fault(self, post: Post, language: Language) -> str | None:
        said = [self.excerpt, *self.tags]
        if any(pattern.search(text) for text in said for pattern in (ADDRESSES, DISGUISED, _PARTS)):
            return "it brought in an address"
        if any(INSTRUCTIONS.search(text) for text in said):
            return "it brought in instructions or markup"
        if any(PROFANE.search(text) for text in said):
            return "it used a word that offends"
        least = LEAST_SHARED if len(post.text) >= SHORTEST_TEXT else LEAST_SHARED_TITLE
        terms = set(terms_of(self.excerpt, language))
        shared = terms.intersection(terms_of(f"{post.title}\n{post.text}", language))
        # An excerpt without terms shares nothing.
        if len(shared) / max(len(terms), 1) < least:
            return "it was not about the post"
        numbers = set(_NUMBERS.findall(self.excerpt)) - set(_NUMBERS.findall(f"{post.title}\n{post.text}"))
        return "it named a number that is not in the post" if numbers else None


log = get_logger(__name__)

#: Confidence in the model's category: if the words of the post suggest it too, and if they don't.
AGREED, ALONE = 0.9, 0.6


class ModelWriter(ABC):
    """An engine that asks a model; a subclass has the model."""

    name: str

    def __init__(self, extractive: Extractive) -> None:
        self._extractive = extractive

    def write(self, post: Post, *, stop: Callable[[], bool] = never) -> Metadata:
        """Return a post's metadata: the model's, or extractive's where the model's can't be used. Raises Stopped."""
        text = without_orders(post.text[:LONGEST_TEXT])
        language = languages.language_of(post.title, text, post.language)
        answer = self._ask(post, text, language, stop)
        if stop():
            raise Stopped
        extracted = self._extractive.write(post, stop=stop)
        written = ModelAnswer.parsed(answer)
        fault = written.fault(post, language) if written else "it was not in the form asked for"
        if written is None or fault is not None:
            log.warning("model answer not used", engine=self.name, fault=fault)
            warning = f"The language model's answer was not used: {fault}. The texts were extracted from the post."
            return replace(extracted, warnings=(*extracted.warnings, warning))
        return finished(
            excerpts=[written.excerpt, extracted.excerpt],
            category=written.category,
            tags=written.tags,
            spare_tags=extracted.tags,
            category_confidence=AGREED if written.category == extracted.category else ALONE,
            taxonomy=self._extractive.taxonomy,
            language=language.taxonomy,
        )

    @abstractmethod
    def _ask(self, post: Post, text: str, language: languages.Language, stop: Callable[[], bool]) -> str:
        """Return the model's answer, which should be a ModelAnswer in JSON. Raises Stopped, PressroomError."""
