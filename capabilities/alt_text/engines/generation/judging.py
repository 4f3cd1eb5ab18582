"""Judging: a model's texts with their confidence; faulty ones are written once more, and the better one is taken."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from capabilities.alt_text.engines import Caption, CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.generation.looking import Fault, confidence_of, faults_of, quotations
from capabilities.alt_text.engines.generation.prompts import FILE, NAMES, is_decorative, is_example
from capabilities.alt_text.engines.text.cleaning import clean
from capabilities.alt_text.engines.text.shaping import NothingSaid, shape
from pipeline.errors import PressroomError
from workers.engines import EngineUnavailable
from workers.engines.languages.identifying import identified
from workers.engines.ocr import Reader

#: Languages that models fall back to, from which they learnt most, and characters of a text that is judged by it.
FALLEN_BACK, SHORTEST_IDENTIFIED = {"en", "zh"}, 40
UNUSABLE: frozenset[Fault] = frozenset(("copied", "language"))


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A text to be written again: what was wrong with it, and the lines that OCR read; None: it did not look."""

    request: CaptionRequest
    mode: Mode
    faults: Sequence[Fault]
    read: Sequence[str] | None


class ModelFailed(EngineUnavailable):
    """The model can't describe a picture, for instance because its processor refuses the shape."""

    code = "engine_failed"


Judged = dict[Mode, tuple[Decoded, SecondLook]]
LookAgain = Callable[[Sequence[SecondLook]], Sequence[Decoded]]


class Judge:
    """Judges texts. A picture is only read where its text quotes something."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def judge(
        self, requests: Sequence[CaptionRequest], said: Sequence[Mapping[Mode, Decoded]], look_again: LookAgain
    ) -> list[Captions | PressroomError]:
        """Return the texts of each picture. `look_again` writes a text for each second look."""
        judged: list[Judged] = [
            {mode: (text, self._faults(request, mode, text, None)) for mode, text in texts.items()}
            for request, texts in zip(requests, said, strict=True)
        ]
        faulty = [(texts, mode) for texts in judged for mode, (_, look) in texts.items() if look.faults]
        again = look_again([texts[mode][1] for texts, mode in faulty]) if faulty else ()
        for (texts, mode), second in zip(faulty, again, strict=True):
            first, look = texts[mode]
            after = self._faults(look.request, mode, second, look.read)
            if _rank(second, after) <= _rank(first, look):
                texts[mode] = second, after
        return [_shaped(texts) for texts in judged]

    def _faults(self, request: CaptionRequest, mode: Mode, said: Decoded, read: Sequence[str] | None) -> SecondLook:
        if request.hints.allow_decorative and is_decorative(said.text):
            return SecondLook(request, mode, (), read)
        if read is None and quotations(clean(said.text)):
            # A reader that fails, or is not there, is no reason to lose the text.
            with suppress(PressroomError):
                read = [line.text for line in self._reader.read(request.picture.image)]
        return SecondLook(request, mode, [*faults_of(said, mode, read), *_strange(said.text, request.language)], read)


def _strange(text: str, language: str) -> list[Fault]:
    """Return the faults that no second look may leave: a copied example, and another language."""
    faults: list[Fault] = ["copied"] if is_example(text) else []
    if len(text) >= SHORTEST_IDENTIFIED and identified(text, [*NAMES], language) in FALLEN_BACK - {language}:
        faults.append("language")
    return faults


def _rank(said: Decoded, look: SecondLook) -> tuple[bool, int, float]:
    return "empty" in look.faults, len(look.faults), -said.confidence


def _shaped(texts: Judged) -> Captions | PressroomError:
    try:
        return {mode: _caption(mode, said, look) for mode, (said, look) in texts.items()}
    except (NothingSaid, ModelFailed) as error:
        return error


def _caption(mode: Mode, said: Decoded, look: SecondLook) -> Caption:
    """Return a text as its mode promises, with its confidence. Raises NothingSaid, ModelFailed."""
    for fault in UNUSABLE.intersection(look.faults):
        raise ModelFailed(f"The model's text can't be used, even after a second look: {FILE['faults'][fault]}.")
    confidence = round(confidence_of(said, look.faults, look.read), 4)
    if look.request.hints.allow_decorative and is_decorative(said.text):
        return Caption("", confidence, decorative=True)
    return Caption(shape(said.text, mode, is_ended=said.is_ended), confidence)
