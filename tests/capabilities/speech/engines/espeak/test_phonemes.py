"""Phonemes by libespeak-ng: clauses, the signs that end them, and other languages inside a text."""

import pytest

from capabilities.speech.engines.espeak.libespeak import EspeakFailed
from capabilities.speech.engines.espeak.phonemes import Clause, has_voice, read_texts


def test_a_clause_has_its_phonemes_and_the_sign_that_ends_it() -> None:
    assert read_texts(["Hello there, how are you? Fine; thanks — “really!”"], voice="en-us")[0] == [
        Clause("həlˈoʊ ðˈɛɹ", ","),
        Clause("hˈaʊ ɑːɹ juː", "?"),
        Clause("fˈaɪn", ";"),
        Clause("θˈæŋks", "—"),
        Clause("ɹˈiəli", "!"),
    ]


@pytest.mark.parametrize(
    ("text", "voice", "sign"), [("नमस्ते।", "hi", "."), ("Τι κάνεις;", "el", ";"), ("Oui !", "fr", "!")]
)
def test_other_scripts_end_clauses_too(text: str, voice: str, sign: str) -> None:
    ((clause,),) = read_texts([text], voice=voice)

    assert clause.phonemes
    assert clause.terminator == sign


def test_a_change_of_language_leaves_no_mark() -> None:
    ((clause,),) = read_texts(["Das Meeting war cool."], voice="de")

    assert "(" not in clause.phonemes
    assert clause.phonemes.endswith("kˈuːl")


def test_an_unknown_voice_is_refused_and_not_replaced() -> None:
    assert not has_voice("xx")
    with pytest.raises(EspeakFailed, match="no voice 'xx'"):
        read_texts(["Hello"], voice="xx")
