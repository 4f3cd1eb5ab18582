"""Endpoint: metadata by a server of the operator's that speaks OpenAI's API."""

import json
from collections.abc import Callable

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.llm.prompt import LONGEST_ANSWER, prompt, schema
from capabilities.blog.engines.metadata.llm.writer import ModelWriter
from pipeline.settings import Settings
from workers.engines.endpoints.chat import ChatModel, Question
from workers.engines.endpoints.endpoint import EndpointEngine
from workers.engines.endpoints.errors import EndpointFailed
from workers.engines.languages import languages

#: Characters of a post that are sent: a summary of more is no better, and many servers read 8,192 tokens.
LONGEST_TEXT = 12_000


class EndpointWriter(EndpointEngine, ModelWriter):
    """Asks `/chat/completions` for excerpt, category and tags in one answer."""

    use = "posts"

    def __init__(self, settings: Settings, name: str) -> None:
        EndpointEngine.__init__(self, settings, name)
        ModelWriter.__init__(self, Extractive.from_settings(settings))
        self._chat = ChatModel(self.client, self.model)

    def setup(self) -> None:
        self._extractive.setup()
        super().setup()

    def _ask(self, post: Post, text: str, language: languages.Language, stop: Callable[[], bool]) -> str:
        self.require()
        taxonomy = self._extractive.taxonomy
        asked = prompt(post, text[:LONGEST_TEXT], language, taxonomy)
        question = Question([{"role": "user", "content": asked}], schema(taxonomy), LONGEST_ANSWER)
        (answer,) = self._chat.ask([question], stop=stop)
        if isinstance(answer, EndpointFailed):
            self.failed(answer)
            raise answer
        return json.dumps(answer)
