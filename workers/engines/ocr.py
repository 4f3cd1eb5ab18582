"""OCR: the text in a picture, by the models that come in rapidocr's wheel (Latin letters, Chinese and Japanese)."""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from PIL import Image

from pipeline.errors import NotReady
from pipeline.log import get_logger
from workers.engines import EngineUnavailable

log = get_logger(__name__)

#: More threads are hardly faster.
THREADS = 2
#: Lines with a lower score are mostly leaves, fabric, or letters of a script that the OCR can't read.
LEAST_SCORE = 0.85
#: Longest side that is read, in pixels. Grain hides letters from the model: in a drawn photo of 1,200 pixels it found
#: no text, in one of 960 all of it. A screenshot has small letters and no grain.
LONGEST_SIDE, LONGEST_GRAINY_SIDE = 1_280, 800
#: Smaller pictures are enlarged to this, at most so many times: the model needs letters of 10 pixels.
SHORTEST_SIDE = 480
MOST_ENLARGED = 3.0
#: Height by width; of a longer page only the top is read. Shrunk to fit, it could not be read at all.
LONGEST_SHAPE = 3.0
#: Smaller pictures, in pixels a side, are not read.
LEAST_SIDE = 24
#: Height by width of a line that is written upwards.
UPRIGHT = 1.5
#: Contrast, of 255, of clear letters; the score of fainter ones is multiplied by less, down to FAINT_SCORE.
CLEAR, FAINT_SCORE = 48, 0.3
#: A single letter that is higher, as a share of the picture, is a shape.
HIGHEST_LETTER = 0.6
#: Greek and Cyrillic letters: the model knows some as signs of formulas, and misreads words in them.
UNREADABLE = re.compile("[\u0370-\u052f]")
#: Units that the model writes as one sign, as people type them.
UNITS = str.maketrans({"℃": " °C", "℉": " °F"})


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text, how surely it was read (0..1), and where it stands, in shares of the width and height."""

    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float
    #: True if it is written upwards or downwards, as the label of an axis.
    is_upright: bool = False

    @property
    def height(self) -> float:
        """Return its height as a share of the picture's."""
        return self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        """Return its centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def rows_of(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return lines in rows, from top to bottom, and each row from left to right."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.middle[1]):
        if rows and abs(rows[-1][0].middle[1] - line.middle[1]) <= line.height / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


class ReadingFailed(EngineUnavailable):
    """The OCR fails on a picture."""

    code = "engine_failed"


class Reader:
    """rapidocr, its models loaded with the first picture; one picture at a time."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or THREADS
        self._lock = threading.Lock()

    def read(self, image: Image.Image, *, is_grainy: bool = False) -> Sequence[TextLine]:
        """Return the lines of an RGB picture that could be read, from top to bottom."""
        if min(image.size) < LEAST_SIDE:
            return []
        import numpy as np

        shown, share = _fitted(image, LONGEST_GRAINY_SIDE if is_grainy else LONGEST_SIDE)
        with self._lock:
            # Colours in OpenCV's order; the sessions' buffers are for one thread at a time.
            found = self._found(np.ascontiguousarray(np.asarray(shown)[:, :, ::-1]))
        if found.boxes is None or found.txts is None:
            return []
        sides = (shown.width, shown.height / share) * 2
        texts = [" ".join(text.translate(UNITS).split()) for text in found.txts]
        lines = []
        for text, score, box in zip(texts, found.scores, found.boxes, strict=True):
            left, top, right, bottom = (np.ravel([box.min(0), box.max(0)]) / sides).tolist()
            lines.append(TextLine(text, float(score), left, top, right, bottom, _is_upright(text, box)))
        grey = np.asarray(shown.convert("L"))
        return [replace(line, score=line.score * _clearness(grey, line, share)) for line in lines if _is_text(line)]

    def _found(self, pixels: Any) -> Any:
        ocr = self._ocr
        try:
            return ocr(pixels, use_cls=False)
        except Exception as error:
            # The errors of onnxruntime and OpenCV have no common class.
            log.warning("text in a picture not read", exc_info=error)
            raise ReadingFailed("The text in this picture can't be read.") from error

    @cached_property
    def _ocr(self) -> Any:
        try:
            from rapidocr import RapidOCR

            return RapidOCR(
                params={
                    "Global.log_level": "critical",  # it would log the text
                    "Global.max_side_len": LONGEST_SIDE,
                    "Det.limit_type": "max",
                    "Det.limit_side_len": LONGEST_SIDE,
                    "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        except (ImportError, OSError) as error:
            raise NotReady(f"rapidocr can't be loaded ({error}); pip install --force-reinstall rapidocr.") from error


def _is_upright(text: str, box: Any) -> bool:
    width, height = box.max(0) - box.min(0)
    return len(text) > 2 and bool(height > UPRIGHT * width)


def _is_text(line: TextLine) -> bool:
    signs = sum(map(str.isalnum, line.text))
    is_readable = signs * 2 >= len(line.text.replace(" ", "")) and (signs > 1 or line.height < HIGHEST_LETTER)
    is_formula = 2 * len(UNREADABLE.findall(line.text)) <= sum(map(str.isalpha, line.text))
    return bool(signs) and is_readable and (is_formula or signs == 1) and line.score >= LEAST_SCORE


def _clearness(grey: Any, line: TextLine, share: float) -> float:
    """Return the contrast of a line's letters as a factor of FAINT_SCORE..1; `grey` is of shape (h, w)."""
    import numpy as np

    height, width = grey.shape
    top, bottom = (round(place * height / share) for place in (line.top, line.bottom))
    letters = grey[max(0, top) : bottom, max(0, round(line.left * width)) : round(line.right * width)]
    if not letters.size:
        return FAINT_SCORE
    dark, light = np.percentile(letters, (1, 99))
    return float(np.clip((light - dark) / CLEAR, FAINT_SCORE, 1.0))


def _fitted(image: Image.Image, longest: int) -> tuple[Image.Image, float]:
    """Return a picture scaled for the OCR, and the share of its height that is left: of a long page the top."""
    tallest = round(image.width * LONGEST_SHAPE)
    share = min(1.0, tallest / image.height)
    shown = image.crop((0, 0, image.width, tallest)) if share < 1 else image
    scale = min(longest / max(shown.size), max(1.0, min(SHORTEST_SIDE / min(shown.size), MOST_ENLARGED)))
    if scale != 1:
        size = max(1, round(shown.width * scale)), max(1, round(shown.height * scale))
        shown = shown.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BICUBIC)
    return shown, share
