"""Passages: nothing is lost between them, and together they cost what one text costs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.audiobooks.kinds.passages import PASSAGE_CHARACTERS, passages_of, prices_of
from capabilities.audiobooks.routes.books import priced

WORDS = st.lists(
    st.sampled_from(["word", "sentence.", "Ende!", "\n\n", "長い文。", "x" * 2_500]), min_size=1, max_size=900
)


@settings(max_examples=60, deadline=None)
@given(WORDS)
def test_passages_have_every_word_in_order_and_are_short(words: list[str]) -> None:
    text = " ".join(words)
    found = list(passages_of(text))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(passage) <= PASSAGE_CHARACTERS for passage in found)


@given(st.lists(st.integers(1, 2_000), min_size=1, max_size=60))
def test_the_prices_of_passages_add_up_to_that_of_one_text(lengths: list[int]) -> None:
    prices = prices_of(lengths, 1_000)
    assert sum(prices) == -(-sum(lengths) // 1_000)
    assert all(price >= 0 for price in prices)


def test_what_is_spoken_is_charged_whatever_is_reused() -> None:
    passages = [{"text": "a", "sound": {}}, {"text": "b" * 999}, {"text": "a", "sound": {}}, {"text": "c" * 2}]
    assert [price for _, price, _ in priced(passages)] == [0, 1, 0, 1]


def test_a_passage_ends_with_a_sentence_where_it_can() -> None:
    first, second = passages_of("One sentence is here. " * 150)
    assert first.endswith("here.")
    assert len(first) > PASSAGE_CHARACTERS - 30
    assert second.startswith("One")
