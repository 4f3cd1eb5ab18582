"""Word times: each word of the written text gets the time of what was said for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.speech.engines.utterance import SpokenWord, Utterance
from capabilities.speech.handlers.timeline import heard_words
from capabilities.speech.normalization.reading import Span, joined
from workers.media.audio.pcm import Pcm


def sound(seconds: float) -> Pcm:
    return Pcm(b"\1\1" * round(seconds * 1_000), 1_000)


def spoken(spans: list[Span], *words: tuple[str, float, float]) -> Utterance:
    """Return an utterance of the spans whose engine told the times of these words."""
    text, place, told = joined(spans), 0, []
    for word, begins, ends in words:
        place = text.index(word, place)
        told.append(SpokenWord(place, place + len(word), begins, ends))
    return Utterance(sound(words[-1][2]), told)


def heard(spans: list[Span], utterance: Utterance) -> list[tuple[str, float, float]]:
    source = "".join(span.source for span in spans)
    return [
        (source[word.start : word.end], round(word.begins, 3), round(word.ends, 3))
        for word in heard_words(spans, utterance)
    ]


def same(text: str) -> Span:
    return Span(text, text)


def test_words_have_the_times_of_the_engine_and_their_punctuation():
    spans = [same('"Yes," he said - twice.')]

    found = heard(spans, spoken(spans, ("Yes", 0, 0.5), ("he", 0.8, 1), ("said", 1, 1.4), ("twice", 1.6, 2)))

    assert found == [('"Yes,"', 0, 0.5), ("he", 0.8, 1), ("said", 1, 1.4), ("twice.", 1.6, 2)]


def test_a_word_that_is_read_as_several_lasts_as_long_as_all_of_them():
    spans = [same("It costs "), Span("$10m", "ten million dollars"), same(" now")]
    words = [("It", 0.0, 0.2), ("costs", 0.2, 0.6), ("ten", 0.6, 0.8), ("million", 0.8, 1.2), ("dollars", 1.2, 1.6)]

    found = heard(spans, spoken(spans, *words, ("now", 1.7, 2.0)))

    assert [word for word, *_ in found] == ["It", "costs", "$10m", "now"]
    assert found[2][2] == 1.6
    assert 0.6 <= found[2][1] <= 1.0


def test_signs_of_scripts_without_spaces_are_words():
    spans = [same("你好，世界。")]

    found = heard(spans, spoken(spans, ("你", 0, 0.5), ("世", 0.6, 0.8), ("界", 0.8, 1)))

    assert found == [("你", 0, 0.25), ("好，", 0.25, 0.5), ("世", 0.6, 0.8), ("界。", 0.8, 1)]


def test_times_that_no_engine_told_go_by_the_letters():
    spans = [same("Four five. Elephants")]
    utterance = Utterance(sound(10))

    found = heard(spans, utterance)

    assert [word for word, *_ in found] == ["Four", "five.", "Elephants"]
    assert found[2][1] - found[1][2] > found[1][1] - found[0][2]
    assert found[2][2] == pytest.approx(10)
    assert found[2][2] - found[2][1] == pytest.approx(9 / 4 * (found[0][2] - found[0][1]), rel=0.01)


TEXTS = st.text(st.sampled_from("ab1 .,-é漢\n$'"), min_size=1, max_size=30)


@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), min_size=1, max_size=6), st.data())
def test_times_rise_within_the_sound_whatever_the_engine_told(pairs, data):
    spans = [Span(source, source if spoken is None else spoken) for source, spoken in pairs]
    text, length = joined(spans), 5.0
    places = st.integers(0, len(text) + 2)
    times = sorted(data.draw(st.lists(st.floats(0, length), max_size=8)))
    words = [SpokenWord(data.draw(places), data.draw(places), begins, begins) for begins in times]

    for told in (words, None):
        found = list(heard_words(spans, Utterance(sound(length), told)))

        assert [word.start for word in found] == sorted(word.start for word in found)
        begins = [word.begins for word in found]
        assert begins == sorted(begins)
        assert all(0 <= word.begins <= word.ends <= length + 0.001 for word in found)


@pytest.mark.parametrize("piece", ["a ", "word ", "漢", "-", "a", '" ', "1,"])
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece):
    text = (piece * 20_000)[:20_000]
    words = [SpokenWord(place, place + 1, place / 100, place / 100) for place in range(0, len(text), 2)]

    def hear():
        list(heard_words([same(text)], Utterance(sound(200), words)))
        list(heard_words([same(sign) for sign in text], Utterance(sound(200))))

    assert least_processor_time(hear) < 3
