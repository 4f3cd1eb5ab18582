"""llama: captions by a small vision-language model through llama.cpp, on processors."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

from capabilities.alt_text.engines import CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.chat import (
    longest_text,
    messages_of,
    most_tokens_of,
    picture_url,
    schema_of,
)
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.generation.judging import Judge, ModelFailed, SecondLook
from capabilities.alt_text.engines.generation.prompts import languages_of
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines import never
from workers.engines.llama.engine import LlamaEngine, grammar_of
from workers.engines.llama.server import Answer
from workers.engines.model_choice import settled
from workers.engines.ocr import Reader
from workers.engines.thread_pool import ThreadPool
from workers.engines.tokens import counting


class Llama(LlamaEngine):
    """A GGUF model that sees. All texts of a picture come in one pass, as one JSON object."""

    family = "captioning"
    sees = True
    batch = 1

    def __init__(self, settings: CaptioningSettings) -> None:
        super().__init__(settings.llama, threads=settings.threads)
        self._judge = Judge(Reader(settings.threads))
        self._threads_of_pictures = ThreadPool("llama pictures")

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        own = settings.of(CaptioningSettings)
        return cls(own.model_copy(update={"llama": settled(settings, own.llama, cls.family, cls.name)}))

    def languages(self) -> Sequence[str]:
        return languages_of(self._folder().name)

    def offer(self) -> dict[str, Any]:
        return {"languages": list(self.languages()), "model": self.model}

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped."""
        slots = self.server.options.slots
        results: list[Captions | PressroomError] = []
        for first in range(0, len(requests), slots):
            underway = [
                self._threads_of_pictures.submit(partial(self._caption, request, stop))
                for request in requests[first : first + slots]
            ]
            results += [one.result() for one in underway]
        return results

    def _caption(self, request: CaptionRequest, stop: Callable[[], bool]) -> Captions | PressroomError:
        try:
            picture = picture_url(request.picture.image)
            with counting(request.tokens):
                said = self._ask(request, request.modes, picture, stop)
                (result,) = self._judge.judge(
                    [request], [said], lambda looks: [self._look_again(look, picture, stop) for look in looks]
                )
        except PressroomError as error:
            return error
        return result

    def _look_again(self, look: SecondLook, picture: str, stop: Callable[[], bool]) -> Decoded:
        return self._ask(look.request, (look.mode,), picture, stop, look)[look.mode]

    def _ask(
        self,
        request: CaptionRequest,
        modes: Sequence[Mode],
        picture: str,
        stop: Callable[[], bool],
        look: SecondLook | None = None,
    ) -> Mapping[Mode, Decoded]:
        answer = self.server.ask(
            messages_of(request, modes, picture, look),
            grammar=grammar_of(schema_of(modes)),
            most=most_tokens_of(modes, request.language),
            stop=stop,
        )
        return {mode: _field(answer, mode) for mode in modes}


def _field(answer: Answer, mode: Mode) -> Decoded:
    """Return one text of an answer, also of one that was cut. Raises ModelFailed."""
    found = re.search(rf'"{mode}": "((?:[^"\\]|\\.)*)("?)', answer.text)
    if found is None:
        raise ModelFailed(f"The model's answer broke off before the {mode} text.")
    text = str(json.loads(f'"{found[1]}"', strict=False))
    begin, end = (len(answer.text[: found.start(group)].encode()) for group in (1, 2))
    likely = [probability for place, probability in answer.tokens if begin < place <= end]
    confidence = math.exp(sum(likely) / len(likely)) if likely else 0.0
    return Decoded(text, min(confidence, 1.0), bool(found[2]) and len(text) < longest_text(mode))
