"""Looking: what is wrong with a model's text, for a second look, and how far it can be trusted."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from capabilities.alt_text.engines import Mode
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.text.cleaning import clean, without_repeats
from capabilities.alt_text.engines.text.shaping import LIMITS

Fault = Literal["empty", "long", "repeats", "unread", "copied", "language"]

#: A text that is shortened to less than this share by leaving out its repetitions, repeats itself.
LEAST_LEFT = 0.75
#: A quotation of one sign does not count; how like a quotation is what the reader found, so that it counts as found.
LEAST_QUOTED, ALIKE = 2, 0.75
QUOTATION = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«\s*([^«»]+?)\s*»|\"([^\"]+)\"|「([^「」]+)」|『([^『』]+)』")
#: Weights of the mean probability: no text reaches 0.9 unless OCR agrees.
WORTH, AGREED = 0.85, 0.1
#: The most for a text that quotes what nobody else has read, and a fault's share of what remains.
UNREAD, FAULTY = 0.4, 0.7


def quotations(text: str) -> list[str]:
    found = (next(part for part in match.groups() if part is not None) for match in QUOTATION.finditer(text))
    return [quoted for quoted in found if sum(map(str.isalnum, quoted)) >= LEAST_QUOTED]


def faults_of(said: Decoded, mode: Mode, read: Sequence[str] | None = None) -> list[Fault]:
    """Return the faults of a text. `read` are the lines that OCR found; None: it has not looked."""
    text = clean(said.text)
    faults: list[Fault] = []
    if sum(map(str.isalnum, text)) < LEAST_QUOTED:
        return ["empty"]
    if not said.is_ended or len(text) > LIMITS[mode]:
        faults.append("long")
    if len(without_repeats(text)) < LEAST_LEFT * len(text):
        faults.append("repeats")
    if read is not None and not all(is_read(quoted, read) for quoted in quotations(text)):
        faults.append("unread")
    return faults


def is_read(quoted: str, read: Sequence[str]) -> bool:
    """Return whether a quotation is among what was read, but for a letter or two: readers err as well."""
    wanted, there = bare(quoted), bare(" ".join(read))
    if not wanted or wanted in there:
        return True
    matcher = SequenceMatcher(None, there, wanted, autojunk=False)
    start = max(0, (block := matcher.find_longest_match()).a - block.b)
    return SequenceMatcher(None, there[start : start + len(wanted)], wanted, autojunk=False).ratio() >= ALIKE


def confidence_of(said: Decoded, faults: Sequence[Fault], read: Sequence[str] | None) -> float:
    """Return the confidence in a text, 0..1: it grows with the model's own, and with what the reader confirms."""
    confidence = WORTH * said.confidence * FAULTY ** len(faults)
    if "unread" in faults:
        return min(confidence, UNREAD)
    is_confirmed = read is not None and bool(quotations(clean(said.text)))
    return confidence + AGREED * said.confidence if is_confirmed else confidence


def bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
