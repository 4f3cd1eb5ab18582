"""Sentences: they end where a reader ends them, nothing is lost, and no text is slow to split."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.speech.normalization.sentences import sentences, split_text

ENDS = tomllib.loads(Path(__file__).with_name("sentence_ends.toml").read_text("utf-8"))

#: Texts of the characters that decide where a cut is.
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \n\t.!?,;:—-。！？，、ab1\u0301\u200d\ufe0f👩\U0001f3fb\ud83d\udc69\x1f"), st.characters()
    ),
    max_size=600,
)


def stripped(text: str, limit: int, language: str = "en") -> list[str]:
    return [chunk.strip() for chunk in split_text(text, limit=limit, language=language)]


@given(text=TEXTS, limit=st.integers(1, 300), language=st.sampled_from(["en", "fr", "de", "ja", "pt-BR", "xx"]))
@settings(max_examples=400, deadline=None)
@example(text="a" * 10 + " ", limit=10, language="en")
@example(text=" \n" * 300 + "a", limit=5, language="en")
def test_chunks_join_to_the_text_and_none_is_too_long_or_empty(text, limit, language):
    chunks = split_text(text, limit=limit, language=language)

    assert "".join(chunks) == text
    assert all(len(chunk.strip()) <= limit for chunk in chunks)
    if text.strip():
        assert all(chunk.strip() for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "limit", "sentences"),
    [
        ("One. Two! Three? Four", 6, ["One.", "Two!", "Three?", "Four"]),
        ("Pi is 3.14 exactly. See example.com now.", 21, ["Pi is 3.14 exactly.", "See example.com now."]),
        ("一。二！三？四", 2, ["一。", "二！", "三？", "四"]),
        ("First line\nsecond line\r\n\r\nthird", 11, ["First line", "second line", "third"]),
        ("Really?! Yes... Well.", 9, ["Really?!", "Yes...", "Well."]),
        ("It is out!Good. Yes.", 16, ["It is out!Good.", "Yes."]),
    ],
)
def test_a_sentence_ends_at_its_mark_or_line(text, limit, sentences):
    assert stripped(text, limit) == sentences


def test_as_many_whole_sentences_as_fit_share_a_chunk():
    assert stripped("One. Two. Three. Four.", limit=9) == ["One. Two.", "Three.", "Four."]
    assert stripped("One. Two. Three. Four.", limit=16) == ["One. Two. Three.", "Four."]
    assert stripped("One. Two. Three. Four.", limit=22) == ["One. Two. Three. Four."]


def test_a_longer_sentence_is_cut_at_the_last_clause_then_word_then_anywhere():
    assert stripped("one two, three four, five six seven.", limit=22) == ["one two, three four,", "five six seven."]
    assert stripped("one two three four five.", limit=10) == ["one two", "three four", "five."]
    assert stripped("abcdefghij", limit=4) == ["abcd", "efgh", "ij"]
    assert stripped("They paid 10,000 at 12:30 for it.", limit=17) == ["They paid 10,000", "at 12:30 for it."]


@pytest.mark.parametrize("character", ["e\u0301\u0301", "👩\u200d🚀", "👍\U0001f3fb", "❤\ufe0f", "\ud83d\udc69"])
def test_no_cut_falls_inside_a_character(character):
    for chunk in split_text(character * 40, limit=10, language="en"):
        assert len(chunk) % len(character) == 0


@pytest.mark.parametrize(
    "text",
    [
        "." * 50_000, "." * 49_999 + "a", " " * 50_000, "a" + " " * 49_999, "\n" * 50_000, "!?" * 25_000, ", " * 25_000,
        "a" + "\u0301" * 49_999, "a. " * 16_667, "—" * 50_000, " - " * 16_666, "。" * 50_000, "a," * 25_000,
        "\u200d" * 50_000,        " " * 25_000 + "a. " * 8_333, ("a" + " " * 400) * 124,
    ],
    ids=lambda text: f"{text[:3]!r}-{text[-2:]!r}",
)  # fmt: skip
@pytest.mark.parametrize("limit", [50, 1_000])
def test_the_most_hostile_text_takes_a_moment(text, limit):
    assert least_processor_time(lambda: split_text(text, limit=limit, language="en")) < 1.0
    assert "".join(split_text(text, limit=limit, language="en")) == text


@pytest.mark.parametrize("language", ENDS["abbreviations"])
def test_no_sentence_ends_with_an_abbreviation(language):
    never, before_numbers = ENDS["abbreviations"][language]
    texts = [f"Anna 1 {word} Alpha 2." for word in never.split()]
    texts += [f"Anna 1 {word} 5 Alpha." for word in before_numbers.split()]

    assert [text for text in texts if len(list(sentences(text, language))) > 1] == []
    assert len(texts) >= 30


@pytest.mark.parametrize("language", ENDS["texts"])
def test_a_sentence_ends_where_a_reader_ends_it(language):
    for text in ENDS["texts"][language]:
        assert list(sentences(text.replace("|", ""), language)) == text.split("|")


def test_a_line_goes_on_in_small_letters_or_when_it_was_wrapped():
    wrapped = "It was the best of times, it was the worst of times, and then\nHenry came. "
    assert list(sentences(wrapped + "All\nwas well.", "en")) == [wrapped, "All\nwas well."]


def test_headings_items_and_paragraphs_are_sentences_of_their_own():
    lines = ["My Title\n", "Eggs\n", "- Milk\n", "- Bread\n\n", "and more\n", f"{'Word ' * 15}and\n", "1. First"]
    assert list(sentences("".join(lines), "en")) == lines


def test_a_long_quotation_has_sentences():
    text = "“One is here. Two is there. Three.” He left."

    assert list(sentences(text, "en")) == ["“One is here. Two is there. Three.” ", "He left."]
    assert list(sentences(text, "en", in_quotes=True)) == ["“One is here. ", "Two is there. ", "Three.” ", "He left."]
