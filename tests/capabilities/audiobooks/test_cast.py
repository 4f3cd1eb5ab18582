"""Cast: who speaks which part of a text, in tags and in dialogue."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.audiobooks.kinds.cast import MAX_OPEN, MarkupInvalid, Part, check_tags, parts_of, plain, written
from capabilities.audiobooks.kinds.passages import PASSAGE_CHARACTERS, passages_of

CAST = {"Emma": "Heart", "Mr. Weston": "Michael"}


def test_the_innermost_tag_decides_who_speaks() -> None:
    text = 'A <voice name="X">b <lang xml:lang="fr">c</lang> d</voice> e'
    assert parts_of(text) == [Part("A "), Part("b ", "X"), Part("c", "X", "fr"), Part(" d", "X"), Part(" e")]
    assert plain(text) == "A b c d e"
    assert parts_of('<lang lang="fr">a</lang>\n\n<lang lang="fr">b</lang> ') == [Part("a\n\nb ", None, "fr")]


@pytest.mark.parametrize(
    ("paragraph", "speaker"),
    [
        ("“It rains,” said Emma. “Come in.”", "Heart"),
        ("Emma said, “It rains.”", "Heart"),
        ("“It rains,” Mr. Weston replied.", "Michael"),
        ("“It rains,” said he.", None),
        ("“Yes,” said Emma. “No,” said Mr. Weston.", None),
        ("Emma and Mr. Weston left.", None),
    ],
)
def test_a_quotation_has_the_voice_of_its_speaker_only_where_that_is_clear(paragraph: str, speaker: str | None) -> None:
    found = written(paragraph, CAST, has_dialogue=True)
    assert plain(found) == paragraph
    assert {part.voice for part in parts_of(found) if part.text.startswith("“")} <= {speaker}
    assert all(part.voice is None for part in parts_of(found) if "“" not in part.text)


def test_names_become_voices_and_breaks_become_pauses() -> None:
    found = written('<voice name="Emma">Hi.</voice><break time="500ms"/> Bye.', CAST, has_dialogue=False)
    assert found == '<voice name="Heart">Hi.</voice>[pause 500ms] Bye.'


NESTED = '<voice name="X">' * (MAX_OPEN + 1) + "a" + "</voice>" * (MAX_OPEN + 1)


@pytest.mark.parametrize(
    "text", ["<voice>x</voice>", 'a <voice name="X">b', "a</voice>", '<lang lang="fr">a</voice>', NESTED]
)
def test_tags_that_do_not_match_are_refused(text: str) -> None:
    with pytest.raises(MarkupInvalid, match="chapter 3"):
        check_tags(text, 3)


def test_no_text_takes_long_or_grows() -> None:
    """Each took minutes, or a hundred times its size, when time or tags grew with the square of the length."""
    begun = time.process_time()
    written("“a” " + "Emma" + " " * 100_000 + "“b”" + " " * 100_000, CAST, has_dialogue=True)
    text = '<voice name="X">' * MAX_OPEN + "a\n\n" * 100_000 + "</voice>" * MAX_OPEN
    assert sum(map(len, passages_of(text))) < 2 * len(text)
    assert len(list(passages_of('x<lang lang="fr">y</lang>' * 40_000))) > 1
    assert time.process_time() - begun < 10


def test_no_cut_is_within_a_tag() -> None:
    text = "x" * (PASSAGE_CHARACTERS - 5) + '<voice name="X">y</voice>'
    assert list(passages_of(text)) == [text[: PASSAGE_CHARACTERS - 5], '<voice name="X">y</voice>']


PIECES = st.lists(
    st.sampled_from(["word ", "A sentence. ", "\n\n", '<voice name="Mr. X">', "</voice>", "x" * 900]), max_size=300
)


@settings(max_examples=60, deadline=None)
@given(PIECES)
def test_each_passage_closes_its_tags_and_speaks_as_the_text_did(pieces: list[str]) -> None:
    kept, depth = [], 0
    for piece in pieces:
        depth += piece.startswith("<voice") - (piece == "</voice>")
        if not 0 <= depth <= MAX_OPEN:
            depth = min(max(depth, 0), MAX_OPEN)
        else:
            kept.append(piece)
    text = "".join(kept) + "</voice>" * depth
    passages = list(passages_of(text))
    for passage in passages:
        check_tags(passage, 1)

    def spoken(texts: list[str]) -> list[tuple[str, str | None]]:
        parts = [part for one in texts for part in parts_of(one)]
        return [(sign, part.voice) for part in parts for sign in part.text if not sign.isspace()]

    assert spoken(passages) == spoken([text])
