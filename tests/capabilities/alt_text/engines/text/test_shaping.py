"""Shaping: whatever an engine says, the texts keep what their modes promise."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.alt_text.engines import MODES, Mode
from capabilities.alt_text.engines.text.cleaning import without_opener
from capabilities.alt_text.engines.text.shaping import LIMITS, NothingSaid, shape, split_sentences

VOCABULARY = """
a the dog dog, two people people. image of picture photo of red and with St. e.g. 3.14 “quoted text” (aside) une photo
d'un chien Bild zeigt einen Hund. ¿Qué? 图片。 it's https://x.test/a?b <b> </b> ** # - … ! ?! ; : —
iPhone NASA \u202e \u200b
\x07 e\u0301 🙂 👩‍👩‍👧 हिन्दी ßtraße ŉ
"""
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, max_size=90).map(" ".join)
ANY = st.one_of(SENTENCES, st.text(max_size=700), st.lists(st.text(max_size=9), max_size=60).map(" ".join))


def shaped(text: str, mode: Mode, **options: bool) -> str | None:
    try:
        return shape(text, mode, **options)
    except NothingSaid:
        return None


@settings(deadline=None, max_examples=250)
@given(text=ANY, mode=st.sampled_from(MODES), is_generated=st.booleans(), is_ended=st.booleans())
@example(text="dog " * 400, mode="long", is_generated=True, is_ended=False)
@example(text="x" * 3_000, mode="short", is_generated=False, is_ended=True)
@example(text="a, " * 900, mode="seo", is_generated=True, is_ended=True)
def test_any_text_keeps_the_promises_of_its_mode(text: str, mode: Mode, is_generated: bool, is_ended: bool) -> None:
    said = shaped(text, mode, is_generated=is_generated, is_ended=is_ended)
    if said is None:
        return

    assert 0 < len(said) <= LIMITS[mode]
    assert any(map(str.isalnum, said))
    assert said == " ".join(said.split())
    assert not any(unicodedata.category(sign)[0] == "C" and sign not in "\u200c\u200d" for sign in said)
    assert not re.search(r"https?:|\*\*|<[a-z/]", said)
    assert not said[0].islower() or said[1:2].isupper() or len(said[0].upper()) > 1 or said[0].upper() == said[0]
    assert all(without_opener(sentence) == sentence for sentence in split_sentences(said))
    assert len(split_sentences(said)) <= 3
    if mode != "short":
        assert re.search(r"[.!?…。！？।؟][\"'”’»“)\]」』]*\Z", said)


@settings(deadline=None, max_examples=100)
@given(words=st.lists(st.sampled_from(["dog", "cat", "on", "the", "red", "sofa", "Bora"]), min_size=1, max_size=80))
def test_no_phrase_of_a_model_follows_upon_itself(words: list[str]) -> None:
    said = shape(" ".join(words), "long").rstrip(".…").lower().split()

    for length in range(2, len(said) // 2 + 1):
        for start in range(len(said) - 2 * length + 1):
            assert said[start : start + length] != said[start + length : start + 2 * length]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("a picture of a dog on a beach", "A dog on a beach"),
        ("This image shows a man riding a wave.", "A man riding a wave"),
        ("a black and white photo of a train", "A train"),
        ("a close up of a flower", "A flower"),
        ("The image features: two boats", "Two boats"),
        ("there is a man that is standing", "A man that is standing"),
        ("An image of a photo of a cat", "A cat"),
        ("Una imagen de un perro en la playa", "Un perro en la playa"),
        ("Foto del puerto", "El puerto"),
        ("En la imagen se ve un barco", "Un barco"),
        ("La photo montre un chat noir.", "Un chat noir"),
        ("Photo d'un chien", "Un chien"),
        ("Une image du port", "Le port"),
        ("Das Bild zeigt einen kleinen Hund", "Ein kleiner Hund"),
        ("Ein Foto von einer Brücke", "Eine Brücke"),
        ("Uma foto do gato", "O gato"),
        ("A imagem mostra um barco", "Um barco"),
        ("Immagine della casa", "La casa"),
        ("La foto mostra un gatto", "Un gatto"),
    ],
)
def test_openers_that_say_only_that_there_is_a_picture_go(raw: str, said: str) -> None:
    assert shape(raw, "short") == said


@pytest.mark.parametrize(
    "kept",
    [
        "A woman holding a picture of a dog",
        "New York at night",
        "Bora Bora from the air",
        "Photographer of the year on stage",
        "iPhone on a table",
        "Sign reading “Stop”",
        "Painting of a harbour",
        "Screenshot of a form",
        "A 3.5 mm plug, two of them",
    ],
)
def test_words_that_say_something_stay(kept: str) -> None:
    assert shape(kept, "short") == kept


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("two people, two people, two people sitting sitting on a bench", "Two people sitting on a bench"),
        ("a red car and a red car and a red car", "A red car"),
        ("ananananananan apple", "An apple"),
        ("the the the the dog", "The dog"),
        ('**Alt text:** "A <b>red</b> car" https://evil.test/x?y', "A red car"),
        ("Sure! Here is the caption: a boat", "A boat"),
        ("![A boat](https://evil.test/boat.png)", "A boat"),
        ("A boat<|im_end|>", "A boat"),
        ("- A boat &amp; a pier", "A boat & a pier"),
        ("A boat (on the", "A boat on the"),
        ("A boat, , and ; ", "A boat, and"),
        ("A \u202edog\u202c\u200b\x07 on a sofa", "A dog on a sofa"),
        ("A dog\U000e0041\U000e0042\U000e0043 here", "A dog here"),
    ],
)
def test_repeats_markup_and_what_is_hidden_go(raw: str, said: str) -> None:
    assert shape(raw, "short") == said


def test_an_author_may_repeat_what_they_mean() -> None:
    assert shape("Row, row, row your boat. Row, row, row your boat!", "long", is_generated=False).startswith(
        "Row, row, row"
    )


def test_a_text_that_is_too_long_ends_with_its_last_clause_that_fits() -> None:
    raw = (
        "A group of people standing in front of a large building with many windows, all of them in bright costumes, "
        "while a band plays music in the square behind them"
    )

    assert shape(raw, "short") == (
        "A group of people standing in front of a large building with many windows, all of them in bright costumes"
    )


def test_a_text_without_clauses_ends_at_a_word_that_can_stand_there() -> None:
    said = shape(
        "people who stand in front of the " + "building with windows and the " * 9, "short", is_generated=False
    )

    assert said.endswith(("building…", "windows…"))


def test_a_long_text_has_three_sentences_at_most_and_abbreviations_end_none() -> None:
    said = shape("St. Mary stands 3.14 km away. It is old. It is big. It is tall.", "long")

    assert said == "St. Mary stands 3.14 km away. It is old. It is big."


def test_a_sentence_that_a_model_did_not_finish_goes_when_there_is_another() -> None:
    assert shape("A dog runs. Behind it there is a", "long", is_ended=False) == "A dog runs."


@pytest.mark.parametrize(
    "nothing", ["", " \n\t", "...", "an image of", "<b></b>", "https://evil.test", "🙂", "\u200d\u202e"]
)
def test_an_engine_that_says_nothing_is_told_so(nothing: str) -> None:
    with pytest.raises(NothingSaid):
        shape(nothing, "short")


@pytest.mark.parametrize(
    "hostile",
    ["<" * 9_000, "a " * 9_000, "(" * 9_000, "aaab" * 9_000, "e\u0301" * 9_000, "**" * 9_000, "Here is " * 2_000],
)
def test_no_text_takes_long(hostile: str) -> None:
    assert least_processor_time(lambda: shaped(hostile, "long")) < 1.0
