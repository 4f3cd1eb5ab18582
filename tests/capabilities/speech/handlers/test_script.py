"""Script: a text becomes lines with silences, and none of it is lost."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capabilities.speech.handlers.script import write_script
from capabilities.speech.kinds.batch import SpeechBatchRequest
from capabilities.speech.kinds.pauses import PauseInvalid
from capabilities.speech.kinds.speech import SpeechInput, SpeechRequest
from capabilities.speech.kinds.stream import SpeechStreamRequest

SECOND = timedelta(seconds=1)


def seconds(script) -> list[float]:
    """Return the silences before the lines, if each of them is spoken."""
    return [line.silence(is_spoken=True, has_begun=number > 0) / SECOND for number, line in enumerate(script)]


def test_a_chapter_has_pauses_between_chunks_longer_ones_between_paragraphs_and_those_of_marks():
    text = "One is here. Two is here.\n\nThree. [pause 3s] Four.\n\n[pause 5s]\n\nFive."

    script = write_script(SpeechBatchRequest(text=text, pause_duration=1_000), limit=15, language="en")

    assert [line.text.strip() for line in script] == ["One is here.", "Two is here.", "Three.", "Four.", "Five."]
    assert seconds(script) == [0, 1, 1.7, 3, 5]


def test_a_text_without_marks_has_no_silence_on_a_stream():
    text = "One is here. Two is here.\n\nThree."

    script = write_script(SpeechStreamRequest(text=text), limit=15, language="en")

    assert set(seconds(script)) == {0}


def test_only_marks_are_silent_beside_a_line_without_a_word():
    _, dashes, last = write_script(SpeechBatchRequest(text="One.\n\n* * *[pause 2s]Two."), limit=99, language="en")

    assert dashes.silence(is_spoken=False, has_begun=True) == timedelta()
    assert last.silence(is_spoken=True, has_begun=False) == 2 * SECOND


@pytest.mark.parametrize("mark", ["[pause for laughter]", "[pause]", "[pause 60s]"])
def test_what_is_no_pause_in_a_stored_text_is_read_aloud(mark):
    text = f"One. {mark} Two. [pause 1s] Three."

    first, last = write_script(SpeechInput(text=text), limit=99, language="en")

    assert first.text.strip() == f"One. {mark} Two."
    assert (last.text.strip(), last.marks, first.source + last.source) == ("Three.", SECOND, text)
    with pytest.raises(PauseInvalid):
        _ = SpeechRequest(text=text).passages


PIECES = st.sampled_from(["A word. ", "\n\n", "[pause 1s]", "* * *", " ", "One, two", "\n", "！", "漢字。", "[", "]"])


@given(
    st.lists(PIECES, min_size=1).map("".join),
    st.booleans(),
    st.booleans(),
    st.sampled_from([SpeechRequest, SpeechStreamRequest]),
)
def test_the_sources_of_the_lines_are_the_text(text, plain, starts_short, request_type):
    request = request_type(text=text, plain_text=plain)

    script = write_script(request, limit=50, language="en", starts_short=starts_short)

    assert "".join(line.source for line in script) == text
    assert all(line.source.endswith(line.text) for line in script)
    assert any("[pause 1s]" in line.text for line in script) <= plain


def starts(text: str, language: str = "en") -> list[str]:
    """Return the lines of a text that somebody listens to already; none of its characters may be lost."""
    script = write_script(SpeechStreamRequest(text=text), limit=200, language=language, starts_short=True)
    assert "".join(line.source for line in script) == text
    return [line.text.strip() for line in script]


def test_what_is_listened_to_already_begins_with_one_sentence():
    first = "A sentence that is long enough for a start of its own."

    assert starts(f"{first} Then comes a second one. And a third.") == [first, "Then comes a second one. And a third."]


def test_short_sentences_begin_together():
    assert starts("Yes. No. Perhaps one day, when the rain is over. Then we go.") == [
        "Yes. No. Perhaps one day, when the rain is over.",
        "Then we go.",
    ]
