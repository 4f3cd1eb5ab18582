"""Whisper base: other languages than English, as a neural voice has spoken them."""

import re
from typing import Any

import numpy as np
import pytest
from spoken import RATE, TEXTS, samples_of, word_error_rate

from capabilities.transcription.engines.whisper.whisper import Whisper

#: The texts of four recordings.
SAID = {
    "spanish": "Buenos días, señoras y señores. La biblioteca está cerrada hoy.",
    "french": "Bonjour mesdames et messieurs. La bibliothèque est fermée aujourd'hui.",
    # Words that she says clearly: of others it depends on the processor whether they are understood.
    "italian": "Buongiorno a tutti. Domani mattina la biblioteca apre alle nove.",
    "portuguese": "Bom dia, senhoras e senhores. A biblioteca está fechada hoje.",
}


@pytest.mark.parametrize(("name", "code"), [("spanish", "es"), ("portuguese", "pt")])
def test_a_language_is_found_out_and_written_down(base: Whisper, name: str, code: str) -> None:
    with base.listen(samples_of(name), language=None, timed=False) as hearing:
        segments = list(hearing.segments)

    assert (hearing.language, hearing.language_probability) == (code, pytest.approx(0.75, abs=0.25))
    assert word_error_rate(SAID[name], " ".join(segment.text for segment in segments)) <= 0.35


@pytest.mark.parametrize(("name", "code"), [("french", "fr"), ("italian", "it")])
def test_a_language_that_is_given_is_written_down_whatever_the_accent(
    base: Whisper, heard: Any, name: str, code: str
) -> None:
    text = heard(base, samples_of(name), language=code)

    assert word_error_rate(SAID[name], text) <= 0.35, text


def test_each_part_is_written_down_in_its_own_language(base: Whisper) -> None:
    pause = np.zeros(RATE, np.int16)
    spanish = " ".join([SAID["spanish"]] * 3)
    parts = [samples_of("market"), np.concatenate([pause, *[samples_of("spanish")] * 3, pause]), samples_of("library")]
    with base.listen(np.concatenate(parts), language=None, timed=True) as hearing:
        segments = list(hearing.segments)

    text = " ".join(segment.text for segment in segments)
    assert hearing.language == "en"
    # Whisper may write down once what is said three times.
    assert word_error_rate(f"{TEXTS['market']} {spanish} {TEXTS['library']}", text) <= 0.35, text
    found = next(segment for segment in segments if "bibliot" in segment.text.lower())
    middle = (len(parts[0]) / RATE, (len(parts[0]) + len(parts[1])) / RATE)
    assert middle[0] - 0.5 < found.start < found.end < middle[1] + 0.5
    assert found.words
    assert found.start <= found.words[0].start <= found.end
    assert [segment.start for segment in segments] == sorted(segment.start for segment in segments)


def test_what_is_said_in_spanish_is_written_down_in_english(base: Whisper) -> None:
    assert base.translates
    with base.listen(samples_of("spanish"), language="es", timed=False, translate=True) as hearing:
        text = " ".join(segment.text for segment in hearing.segments)

    assert {"gentlemen", "library", "closed"} <= set(re.findall(r"\w+", text.lower()))
