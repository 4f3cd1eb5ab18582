"""Endpoint: covers by a server of the operator's that speaks OpenAI's API."""

import base64
import binascii
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from PIL import ImageOps

from capabilities.blog.engines.pictures import STYLES, Brief, Painted
from capabilities.blog.engines.pictures.diffusion.diffusion import COVER, photograph, prompt_of
from pipeline.errors import PressroomError
from workers.engines import never
from workers.engines.endpoints.client import Call
from workers.engines.endpoints.endpoint import EndpointEngine
from workers.engines.endpoints.errors import AnswerInvalid, EndpointBusy, EndpointFailed, RequestRefused
from workers.media.images.reading import read_picture

#: Sizes in the order in which they are tried, the nearest first: of free models, of gpt-image and of dall-e-3.
SIZES = ("1216x640", "1536x1024", "1792x1024", "1024x1024")
MAX_PIXELS, MAX_SIDE = 16_000_000, 8_192
#: Longest wait for the rest of a post's pictures, of a server that takes fewer at once or a minute.
PATIENCE = timedelta(minutes=2)


class EndpointPainter(EndpointEngine):
    """Paints by `/images/generations`, in every style, and crops to a cover's size."""

    use = "covers"
    #: The first size that the server has not refused, and whether it takes `response_format`.
    _size = 0
    _asks_for_base64 = True

    def styles(self) -> Sequence[str]:
        """Return the styles it can be asked for: all, since each is a matter of words."""
        return STYLES

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return `count` pictures, one per request, or why there is none. Raises Stopped, EngineUnavailable."""
        self.require()
        answers = self._asked(brief, count, stop)
        if all(isinstance(answer, EndpointBusy) for answer in answers):
            raise answers[0]  # type: ignore[misc]  # the post waits; a drawn cover would stay
        # Those that came are paid, and a post that waits has them painted again; so only the others are asked for.
        ends = time.monotonic() + PATIENCE.total_seconds()
        while left := {n: answer for n, answer in enumerate(answers) if isinstance(answer, EndpointBusy)}:
            try:
                self.rest(next(iter(left.values())), ends=ends, stop=stop)
            except EndpointBusy:
                break
            for place, answer in zip(left, self._asked(brief, len(left), stop), strict=True):
                answers[place] = answer
        for answer in answers:
            if isinstance(answer, EndpointFailed):
                self.failed(answer)
        return [answer if isinstance(answer, EndpointFailed) else self._painted(answer, brief) for answer in answers]

    def _asked(self, brief: Brief, count: int, stop: Callable[[], bool]) -> list[bytes | EndpointFailed]:
        """Ask for pictures; what the server refuses in the form of the request is left out of the next."""
        while True:
            # Other posts are painted meanwhile, and may learn the same.
            size, asks_for_base64 = self._size, self._asks_for_base64
            body: dict[str, Any] = {"model": self.model, "prompt": prompt_of(brief), "n": 1, "size": SIZES[size]}
            if asks_for_base64:
                body["response_format"] = "b64_json"
            answers = self.client.send([Call("/images/generations", json=body)] * count, stop=stop)
            if not all(isinstance(answer, RequestRefused) for answer in answers):
                return answers
            said = " ".join(answer.said for answer in answers if isinstance(answer, RequestRefused))
            if asks_for_base64 and "response_format" in said:
                self._asks_for_base64 = False
            elif "size" in said.lower() and size + 1 < len(SIZES):
                self._size = max(self._size, size + 1)
            else:
                return answers

    def _painted(self, answer: bytes, brief: Brief) -> Painted | PressroomError:
        try:
            image = read_picture(self._file(answer), max_pixels=MAX_PIXELS, max_side=MAX_SIDE).image
        except PressroomError as error:
            return error
        cover = ImageOps.fit(image.convert("RGB"), COVER)
        return photograph(cover, brief)

    def _file(self, answer: bytes) -> bytes:
        """Return the picture of an answer. A link is not followed: it leads to a host that nobody has named."""
        document = self.client.read(answer)
        try:
            entry: Mapping[str, Any] = document["data"][0]
            return base64.b64decode(entry["b64_json"], validate=True)
        except (KeyError, IndexError, TypeError, binascii.Error, ValueError) as error:
            raise AnswerInvalid(self.name, "answered without a picture in base64") from error
