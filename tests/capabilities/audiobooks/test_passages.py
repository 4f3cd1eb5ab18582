"""Passages: nothing is lost between them, and together they cost what one text costs."""

from datetime import UTC, datetime
from types import SimpleNamespace
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.audiobooks.kinds.audiobook import Audiobook, PassageInput, SpokenPassage
from capabilities.audiobooks.kinds.passages import PASSAGE_CHARACTERS, passages_of, prices_of
from capabilities.audiobooks.routes.books import priced
from capabilities.speech.voices.offered_voices import OfferedVoices
from pipeline.kind import FinishedItem
from pipeline.offers.offers import Offers

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


def test_one_of_openais_names_speaks_the_language_of_its_passage_and_another_voice_its_own() -> None:
    text = 'Guten Tag. <voice name="nova">Hallo!</voice> <voice name="en-GB">Hello!</voice>'
    passage = PassageInput(text=text, chapter=1, language="de")
    found = passage.parts(OfferedVoices(Offers()))
    assert [(part.voice_name, part.language) for part in found] == [(None, "de"), ("nova", "de"), ("en-GB", None)]


def test_a_voice_that_spoke_in_place_of_another_is_told() -> None:
    def item(text: str, voice: str, language: str = "en") -> FinishedItem[PassageInput, SpokenPassage]:
        spoken = SpokenPassage(artifact="a", duration_seconds=1, voice=voice, language=language)
        return FinishedItem(PassageInput(text=text, chapter=1), spoken, {}, 1, datetime.now(UTC))

    items = [item("A.", "Heart"), item("B.", "espeak"), item("C.", "Heart"), item("D.", "Siwis", "fr")]
    tagged = item('<voice name="Adam">E.</voice>', "Adam")
    job = SimpleNamespace(id=uuid4(), credits_captured=1)
    (warning,) = Audiobook().response(job, [*items, tagged]).media["warnings"]
    assert warning.startswith("espeak spoke 1 passages (2) in place of Heart.")
