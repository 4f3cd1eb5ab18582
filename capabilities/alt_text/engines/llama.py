"""llama: captions by a small vision-language model through llama.cpp, on processors."""

import base64
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

from PIL import Image

from capabilities.alt_text.engines import CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.generation.judging import Judge, ModelFailed, SecondLook
from capabilities.alt_text.engines.generation.prompts import NAMES, json_instructions, most_tokens, picture_question
from capabilities.alt_text.engines.text.shaping import LIMITS
from capabilities.alt_text.kinds.fields import require_language
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines import never
from workers.engines.llama.engine import LlamaEngine
from workers.engines.llama.grammar import grammar_of
from workers.engines.llama.server import Answer
from workers.engines.model_choice import settled
from workers.engines.ocr import Reader
from workers.engines.thread_pool import ThreadPool
from workers.models.catalogue import read_catalogue

#: Longest side of a picture for the model, in pixels; it sees at most 256 tokens of 32 x 32 pixels.
LONGEST_SIDE = 1_024
JPEG_QUALITY = 90
#: How much longer than its limit a text may be written; a sentence too many is cut by `shape`.
ROOM = 1.25


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
        """Return the engine, its model not loaded yet."""
        own = settings.of(CaptioningSettings)
        return cls(own.model_copy(update={"llama": settled(settings, own.llama, cls.family, cls.name)}))

    def languages(self) -> Sequence[str]:
        """Return the languages that it can be asked to write."""
        known = read_catalogue().get(self._folder().name)
        return list(known.languages) if known is not None and known.languages else list(NAMES)

    def offer(self) -> dict[str, Any]:
        """Return what the API should know of it."""
        return {"languages": list(self.languages()), "model": self.model}

    def caption(
        self, wishes: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped."""
        slots = self.server.options.slots
        results: list[Captions | PressroomError] = []
        for first in range(0, len(wishes), slots):
            underway = [
                self._threads_of_pictures.submit(partial(self._caption, wish, stop))
                for wish in wishes[first : first + slots]
            ]
            results += [one.result() for one in underway]
        return results

    def _caption(self, wish: CaptionRequest, stop: Callable[[], bool]) -> Captions | PressroomError:
        try:
            require_language(wish.language, self.languages())
            picture = _data_url(wish.picture.image)
            said = self._ask(wish, wish.modes, picture, stop)
            (result,) = self._judge.judge(
                [wish], [said], lambda looks: [self._look_again(look, picture, stop) for look in looks]
            )
        except PressroomError as error:
            return error
        return result

    def _look_again(self, look: SecondLook, picture: str, stop: Callable[[], bool]) -> Decoded:
        return self._ask(look.wish, (look.mode,), picture, stop, look)[look.mode]

    def _ask(
        self,
        wish: CaptionRequest,
        modes: Sequence[Mode],
        picture: str,
        stop: Callable[[], bool],
        look: SecondLook | None = None,
    ) -> Mapping[Mode, Decoded]:
        """Return a text for each mode. The instructions stand before the picture, so that their prefix is cached."""
        faults, read = (look.faults, look.read) if look else ((), None)
        schema = {
            "type": "object",
            "properties": {mode: {"type": "string", "minLength": 1, "maxLength": _most(mode)} for mode in modes},
        }
        answer = self.server.ask(
            [
                {"role": "system", "content": json_instructions(modes)},
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": picture}},
                        {"type": "text", "text": picture_question(wish.language, wish.hints, faults=faults, read=read)},
                    ],
                },
            ],
            grammar=grammar_of(schema),
            most=sum(most_tokens(mode, wish.language) + 12 for mode in modes),
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
    return Decoded(text, min(confidence, 1.0), bool(found[2]) and len(text) < _most(mode))


def _most(mode: Mode) -> int:
    return int(LIMITS[mode] * ROOM)


def _data_url(image: Image.Image) -> str:
    """Return a picture as JPEG: what else llama.cpp reads depends on its build, and it would fetch other URLs."""
    small = image.convert("RGB")
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.BICUBIC, reducing_gap=2.0)
    file = io.BytesIO()
    small.save(file, "JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
