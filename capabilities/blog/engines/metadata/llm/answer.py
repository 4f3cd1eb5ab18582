"""Answer: what a language model wrote, and whether it is about the post, or what the post told it to say."""

from typing import Self

import regex
from pydantic import BaseModel, ConfigDict, ValidationError

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.terms import terms_of
from capabilities.blog.engines.metadata.unwanted import ADDRESSES, DISGUISED, INSTRUCTIONS, PROFANE
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
        """Return what is wrong with the answer, or None."""
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
