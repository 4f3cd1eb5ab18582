"""Texts that try to be more than text: they are read, or refused, and never obeyed."""

import pytest

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.espeak.espeak import Espeak
from capabilities.speech.voices.voices import VoiceUnknown


def seconds(espeak: Espeak, text: str, voice: str = "en-US") -> float:
    return espeak.speak(text, voice=voice).duration.total_seconds()


def test_phoneme_brackets_are_read_as_their_letters(espeak):
    # Obeyed, it would be "hello", half as long.
    assert seconds(espeak, "[[h@l'oU]]") >= seconds(espeak, "h@l'oU") > 1.5 * seconds(espeak, "hello")


def test_tags_are_read_and_a_break_makes_no_pause(espeak):
    assert seconds(espeak, "one <break time='9s'/> two") < 5
    assert seconds(espeak, "<speak><b>one</b></speak>") > 1.5 * seconds(espeak, "one")


def test_the_librarys_own_commands_do_nothing(espeak):
    plain = seconds(espeak, "hello there my friend")

    assert seconds(espeak, "\x01900S\x01900S hello there my friend") > plain
    assert seconds(espeak, "hello there my friend") == pytest.approx(plain, rel=0.02)


@pytest.mark.parametrize(
    ("text", "voice"),
    [
        ("مرحبا بالعالم", "ar"), ("שלום עולם", "he"), ("你好，世界。", "cmn"), ("こんにちは", "ja"),
        ("안녕하세요", "ko"),
        ("नमस्ते दुनिया", "hi"), ("مرحبا", "en-US"), ("\u202eright to left", "en-US"), ("😀", "en-US"),
        ("\ud800 half a character", "en-US"), ("NUL\x00 in the middle", "en-US"), ("e" + "\u0301" * 500, "en-US"),
        ("a" * 10_000, "en-US"), ("9" * 10_000, "en-US"), ("word, " * 1_666, "de"),
    ],
)  # fmt: skip
def test_any_script_and_length_is_spoken(espeak, text, voice):
    assert seconds(espeak, text, voice) > 0.1


@pytest.mark.parametrize("text", ["", " ", "...", "—", "\n\n", "\u200b", "''''", "\ue000", "\x01\x02", "[[]]", "؟"])
@pytest.mark.parametrize("speed", [1.0, 3.0])
def test_a_text_without_a_word_is_refused(espeak, text, speed):
    with pytest.raises(NothingToSpeak) as refused:
        espeak.speak(text, voice="en-US", speed=speed)

    assert refused.value.code == "nothing_to_speak"
    assert refused.value.status == 400


def test_a_voice_of_nobody_is_refused(espeak):
    for voice in ("nobody", "en-US+f3", "../../etc/passwd", "en-US\r\n", ""):
        with pytest.raises(VoiceUnknown):
            espeak.speak("Hello.", voice=voice)
