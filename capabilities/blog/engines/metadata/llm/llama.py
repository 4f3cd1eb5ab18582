"""llama: metadata by the model that describes pictures, through llama.cpp, on processors."""

from collections.abc import Callable
from typing import Self

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.llm.prompt import BEGINNING, LONGEST_ANSWER, prompt, schema
from capabilities.blog.engines.metadata.llm.writer import ModelWriter
from capabilities.blog.settings import MetadataSettings
from pipeline.settings import Settings
from pipeline.settings.fields import GgufSettings
from workers.engines.languages import languages
from workers.engines.llama.engine import LlamaEngine, grammar_of
from workers.engines.llama.server import RequestTooLong
from workers.engines.model_choice import settled

#: Bytes of a post that are read: about 2,000 tokens, half a minute of two cores.
LONGEST_TEXT = 7_000


class Llama(LlamaEngine, ModelWriter):
    """A GGUF model. Excerpt, category and tags come in one answer."""

    family = "metadata"
    sees = False

    def __init__(self, settings: GgufSettings, extractive: Extractive) -> None:
        LlamaEngine.__init__(self, settings)
        ModelWriter.__init__(self, extractive)
        self._grammar = ""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        own = settled(settings, settings.of(MetadataSettings).llama, cls.family, cls.name)
        return cls(own, Extractive.from_settings(settings))

    def setup(self) -> None:
        """Load the model, unless pictures have it loaded. Raises NotReady."""
        self._extractive.setup()
        self._grammar = grammar_of(schema(self._extractive.taxonomy))
        super().setup()

    def _ask(self, post: Post, text: str, language: languages.Language, stop: Callable[[], bool]) -> str:
        room = LONGEST_TEXT
        while True:
            asked = prompt(post, _shortened(text, room), language, self._extractive.taxonomy)
            try:
                messages = [{"role": "user", "content": asked}]
                return self.server.ask(messages, grammar=self._grammar, most=LONGEST_ANSWER, stop=stop).text
            except RequestTooLong:
                if room < 500:
                    raise
                room //= 2


def _shortened(text: str, room: int) -> str:
    """Return the beginning and the end of a text that has more bytes than there is room."""
    content = text.encode()
    if len(content) <= room:
        return text
    head = int(room * BEGINNING)
    return f"{content[:head].decode(errors='ignore')} … {content[-(room - head) :].decode(errors='ignore')}"
