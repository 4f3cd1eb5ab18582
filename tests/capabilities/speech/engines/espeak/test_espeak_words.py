"""espeak's words: when each of them is heard, at any speed."""

import pytest
from sound import level_db, samples_of

from capabilities.speech.engines.utterance import Utterance

TEXT = "Hello world. Naïve cooks déjà vu, said the 😀 driver!"


def words_of(utterance: Utterance, text: str) -> list[str]:
    return [text[word.start : word.end] for word in utterance.words or ()]


def loudness(utterance: Utterance, begins: float, ends: float) -> float:
    rate = utterance.sound.sample_rate
    return level_db(samples_of(utterance.sound)[round(begins * rate) : round(ends * rate)])


@pytest.mark.parametrize(("speed", "pitch"), [(1.0, 0.0), (2.0, 0.0), (0.25, 0.0), (4.0, 5.0)])
def test_words_are_heard_when_the_times_say(espeak, speed, pitch):
    spoken = espeak.utter(TEXT, voice="en-US", speed=speed, pitch=pitch)

    words = spoken.words
    assert words_of(spoken, TEXT)[:4] == ["Hello", "world", "Naïve", "cooks"]
    assert words[0].begins == 0
    assert all(word.begins <= word.ends for word in words)
    assert [word.begins for word in words] == sorted(word.begins for word in words)
    assert words[-1].ends <= spoken.sound.duration.total_seconds()
    # The pause between two sentences lies between their words, and the words are loud.
    silence = loudness(spoken, words[1].ends + 0.02 / speed, words[2].begins - 0.02 / speed)
    assert silence < min(loudness(spoken, word.begins, word.ends) for word in words[:4]) - 25


def test_words_of_scripts_without_spaces_have_times_too(espeak):
    text = "你好，世界。"

    spoken = espeak.utter(text, voice="cmn")

    assert "".join(words_of(spoken, text)).startswith("你")
    assert spoken.words[-1].ends == pytest.approx(spoken.sound.duration.total_seconds(), abs=0.5)
