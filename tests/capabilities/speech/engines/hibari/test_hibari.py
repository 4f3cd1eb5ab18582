"""The hibari engine: what it speaks, and that all controls hold for it."""

from itertools import pairwise

import pytest
from sound import level_db, samples_of

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.hibari.hibari import Hibari

TEXT = "The quick brown fox jumps over the lazy dog, and nobody knows why it does. It never says a word."
VOICE = "en-US-Heart"


def test_a_sentence_is_spoken_at_a_natural_pace(hibari: Hibari) -> None:
    sound = hibari.speak(TEXT, voice=VOICE)

    assert sound.sample_rate == 24_000
    # English is read at 13 to 18 characters a second.
    assert len(TEXT) / 18 < sound.duration.total_seconds() < len(TEXT) / 13
    assert -35 < level_db(samples_of(sound)) < -10


def test_the_same_text_is_the_same_sound(hibari: Hibari) -> None:
    assert hibari.speak(TEXT, voice=VOICE).samples == hibari.speak(TEXT, voice=VOICE).samples


def test_markup_for_pronunciation_is_read_and_not_obeyed(hibari: Hibari) -> None:
    obeyed = hibari.speak("Say word now.", voice=VOICE).duration
    assert hibari.speak("Say [word](/ˈɑ/) now.", voice=VOICE).duration > obeyed * 0.95


@pytest.mark.parametrize("text", ["漢字", "\u200b", "🎉"])
def test_what_it_can_not_read_is_refused(hibari: Hibari, text: str) -> None:
    with pytest.raises(NothingToSpeak):
        hibari.speak(text, voice=VOICE)


@pytest.mark.parametrize(
    "text", ["9" * 37, "$" + "9" * 40, "3." + "1" * 50, "①$5", "¹$5", "(②$5-10k)", "25 m²$5", "⑴£2", "x²$"]
)
def test_numbers_that_the_package_fails_at_are_read(hibari: Hibari, text: str) -> None:
    said = hibari.utter(f"Before {text} behind.", voice=VOICE)

    assert said.words is not None
    assert said.sound.duration > hibari.speak("Before behind.", voice=VOICE).duration
    assert all(word.begins <= later.begins for word, later in pairwise(said.words))


def test_words_stand_in_their_places_behind_digits_in_circles(hibari: Hibari) -> None:
    text = "Step ② costs ①$5 in all."

    words = hibari.utter(text, voice=VOICE).words

    assert words is not None
    assert [text[word.start : word.end] for word in words] == ["Step", "②", "costs", "①", "5", "in", "all"]


def test_a_word_that_the_package_fails_at_is_skipped(hibari: Hibari) -> None:
    number = ",".join(["999"] * 13)

    assert hibari.speak(f"Take {number} it.", voice=VOICE).samples == hibari.speak("Take it.", voice=VOICE).samples
    with pytest.raises(NothingToSpeak):
        hibari.speak(number, voice=VOICE)
