"""Endpoint: captions by a server of the operator's that speaks OpenAI's API."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from capabilities.alt_text.engines import CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.chat import (
    longest_text,
    messages_of,
    most_tokens_of,
    picture_url,
    schema_of,
)
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.generation.judging import Judge, SecondLook
from capabilities.alt_text.engines.generation.prompts import NAMES
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines import never
from workers.engines.endpoints.chat import ChatModel, Question
from workers.engines.endpoints.endpoint import EndpointEngine
from workers.engines.endpoints.errors import EndpointFailed
from workers.engines.ocr import Reader

#: Confidence in a text without token probabilities, before it is judged.
CONFIDENCE = 0.8
#: Pictures that are claimed together, for each request that may run at once: the next wait while these run.
ROUNDS = 3
#: Most of them, for their memory: three runs of 32 take 2 GB at most.
MOST_TOGETHER = 32


class EndpointCaptioner(EndpointEngine):
    """Describes pictures by `/chat/completions`, many at once, and judges the texts as every model's."""

    use = "captions"

    def __init__(self, settings: Settings, name: str) -> None:
        super().__init__(settings, name)
        self.batch = min(settings.endpoints[name].slots * ROUNDS, MOST_TOGETHER)
        self._chat = ChatModel(self.client, self.model)
        self._judge = Judge(Reader(settings.of(CaptioningSettings).threads))

    def languages(self) -> Sequence[str]:
        return list(NAMES)

    def offer(self) -> Mapping[str, Any]:
        return {**super().offer(), "languages": list(NAMES)}

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped, EngineUnavailable."""
        self.require()
        urls: dict[int, str] = {}

        def questions() -> Iterator[Question]:
            for request in requests:
                urls[id(request)] = picture_url(request.picture.image)
                yield self._question(request, request.modes, urls)

        answers = self._ask(questions(), stop)
        said = {
            place: {mode: _decoded(answer, mode) for mode in requests[place].modes}
            for place, answer in enumerate(answers)
            if not isinstance(answer, EndpointFailed)
        }

        def look_again(looks: Sequence[SecondLook]) -> list[Decoded]:
            again = self._ask([self._question(look.request, (look.mode,), urls, look) for look in looks], stop)
            # The first text stays where there is no second: an empty one is never better.
            return [
                Decoded("", 0.0, True) if isinstance(answer, EndpointFailed) else _decoded(answer, look.mode)
                for look, answer in zip(looks, again, strict=True)
            ]

        judged = self._judge.judge([requests[place] for place in said], list(said.values()), look_again)
        results = dict(zip(said, judged, strict=True))
        return [answer if isinstance(answer, EndpointFailed) else results[n] for n, answer in enumerate(answers)]

    def _question(
        self,
        request: CaptionRequest,
        modes: Sequence[Mode],
        urls: Mapping[int, str],
        look: SecondLook | None = None,
    ) -> Question:
        messages = messages_of(request, modes, urls[id(request)], look)
        return Question(messages, schema_of(modes), most_tokens_of(modes, request.language), request.tokens)

    def _ask(
        self, questions: Iterable[Question], stop: Callable[[], bool]
    ) -> Sequence[Mapping[str, Any] | EndpointFailed]:
        answers = self._chat.ask(questions, stop=stop)
        for answer in answers:
            if isinstance(answer, EndpointFailed):
                self.failed(answer)
        return answers


def _decoded(answer: Mapping[str, Any], mode: Mode) -> Decoded:
    """Return one text of an answer; a text of ten times the length is one that did not end."""
    text = " ".join(str(answer[mode]).split())
    return Decoded(text[: longest_text(mode)], CONFIDENCE, len(text) <= longest_text(mode))
