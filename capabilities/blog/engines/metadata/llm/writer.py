"""Writer: metadata by a language model, checked against the post; what can't be used is extracted instead."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from capabilities.blog.engines.metadata import Metadata, Post
from capabilities.blog.engines.metadata.checks import finished
from capabilities.blog.engines.metadata.extractive.extractive import LONGEST_TEXT, Extractive
from capabilities.blog.engines.metadata.extractive.sentences import without_orders
from capabilities.blog.engines.metadata.llm.answer import ModelAnswer
from pipeline.log import get_logger
from workers.engines import Stopped, never
from workers.engines.languages import languages

log = get_logger(__name__)

#: How sure a category is that the model chose: where the words of the post speak for the same, and where they don't.
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
