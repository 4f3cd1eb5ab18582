"""Lexicon: which words of a text are said in another way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.speech.kinds.lexicon import LexiconEntry, LexiconTooLong, Replacements, entries_in, folded


def lexicon(*pairs: tuple[str, str], **fields) -> Replacements:
    return Replacements([LexiconEntry(word=word, replacement=said, **fields) for word, said in pairs])


def said(text: str, replacements: Replacements) -> str:
    return "".join(piece if said is None else f"<{said}>" for piece, said in replacements.pieces(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SQL", "<sequel>"), ("Sql, sql.", "<sequel>, <sequel>."), ("MySQL and SQLite", "MySQL and SQLite"),
        ("SQL2", "SQL2"), ("SQL's", "<sequel>'s"), ("(SQL)", "(<sequel>)"), ("New York City", "<the city>"),
        ("new york", "<NY>"), ("in New\nYork  now", "in <NY>  now"), ("New\u00a0York \r\n City!", "<the city>!"),
        ("New Yorker", "New Yorker"), ("C++ or C", "<see plus plus> or <see>"), ("AT&T", "AT<and>T"),
        ("東京都", "<Tokyo>都"), ("İSQL Straße", "İSQL <street>"), ("कमल", "कमल"),
    ],
)  # fmt: skip
def test_whole_words_are_replaced_and_the_longest_entry_counts(text, expected):
    replacements = lexicon(
        ("sql", "sequel"), ("new york", "NY"), ("New York City", "the city"), ("c", "see"), ("C++", "see plus plus"),
        ("&", "and"), ("東京", "Tokyo"), ("straße", "street"), ("कम", "few"),
    )  # fmt: skip

    assert said(text, replacements) == expected


def test_capital_letters_matter_where_an_entry_says_so():
    sensitive = LexiconEntry(word="US", replacement="United States", case_sensitive=True)
    folded_entry = LexiconEntry(word="us", replacement="all of us")

    assert said("US us Us", Replacements([sensitive])) == "<United States> us Us"
    assert said("US us", Replacements([sensitive, folded_entry])) == "<United States> <all of us>"


def test_a_text_must_not_grow_past_what_is_paid():
    grows = [LexiconEntry(word="a", replacement="x" * 200)]

    assert entries_in("banana " * 1_000, grows) == grows
    assert entries_in("a b", grows) == grows
    with pytest.raises(LexiconTooLong, match="the limit is 7,000 for a text of 3,000"):
        entries_in("a b " * 750, grows)


WORDS = st.text(st.sampled_from("aAbİß' 漢é+"), min_size=1, max_size=6).filter(str.strip)


@given(st.lists(WORDS, max_size=10), st.text(st.sampled_from("aAbİß' 漢é+\n"), max_size=60))
def test_pieces_are_the_text_and_what_is_replaced_is_an_entry(words, text):
    entries = [LexiconEntry(word=word, replacement="x") for word in words]

    pieces = list(Replacements(entries).pieces(text))

    assert "".join(piece for piece, _ in pieces) == text
    keys = {folded(entry.word) for entry in entries}
    assert all(folded(" ".join(piece.split())) in keys for piece, said in pieces if said is not None)
    # What stands in the text is among the entries that are kept with it.
    kept = Replacements(entries_in(text, dict.fromkeys(entries)))
    assert list(kept.pieces(text)) == pieces


@pytest.mark.parametrize("text", ["a" * 50_000, "a " * 25_000, "& " * 25_000, "abcdefghi " * 5_000, "z" * 50_000])
def test_a_thousand_entries_take_no_long_time(text):
    entries = [LexiconEntry(word=("a " * 50)[: number % 100 + 1] + f"q{number}"[: max(0, 99 - number % 100)],
                            replacement="x") for number in range(1_000)]  # fmt: skip

    assert least_processor_time(lambda: list(Replacements(entries_in(text, entries)).pieces(text))) < 3
