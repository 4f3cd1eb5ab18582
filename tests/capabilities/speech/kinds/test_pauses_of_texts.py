"""Pauses: what in a text is a pause, and what is refused."""

from datetime import timedelta

import pytest
from processor_time import least_processor_time

from capabilities.speech.kinds.fields import SpokenRequest
from capabilities.speech.kinds.pauses import PauseInvalid, passages, without_code
from capabilities.speech.kinds.speech import Speech, SpeechRequest
from capabilities.speech.kinds.stream import SpeechStreamRequest
from pipeline.offers.offers import Offers


@pytest.mark.parametrize(
    ("mark", "seconds"),
    [
        ("[pause 1.5s]", 1.5), ("[pause 500ms]", 0.5), ("[PAUSE 2 S]", 2), ("[ pause 10s ]", 10),
        ("[pause 50ms]", 0.05),
    ],
)  # fmt: skip
def test_a_mark_says_how_long_it_lasts(mark, seconds):
    first, second = passages(f"One {mark} two.", blank_lines=True)

    assert (first.text, second.text) == ("One ", " two.")
    assert second.marks == timedelta(seconds=seconds)
    assert second.source == f"{mark} two."


@pytest.mark.parametrize(
    "mark",
    [
        "[pause]", "[pause 1]", "[pause 10.1s]", "[pause 49ms]", "[pause -1s]", "[pause 1,5s]", "[pause: 2s]",
        "[pause for joy]",
    ],
)  # fmt: skip
def test_a_wrong_mark_is_refused_with_a_remedy(mark):
    with pytest.raises(PauseInvalid) as refused:
        Speech().check(SpeechRequest(text=f"One {mark} two."), Offers())

    assert mark in refused.value.message
    assert refused.value.code == "pause_invalid"
    assert "[pause 1.5s]" in refused.value.message or "0.05 to 10 seconds" in refused.value.message


@pytest.mark.parametrize("text", ["[paused]", "(pause 1s)", "[pause 1s", "pause 1s]", "[1] [sic]", "[pauses 1s]"])
def test_other_brackets_are_text(text):
    assert [passage.text for passage in passages(text, blank_lines=True)] == [text]


@pytest.mark.parametrize("between", ["\n\n", "\n \t\n", "\r\n\r\n", "\n\n\n\n"])
def test_blank_lines_part_paragraphs_but_not_on_a_stream(between):
    text = f"{between}One.{between}Two.{between}"

    parted = SpokenRequest(text=text).passages
    streamed = SpeechStreamRequest(text=text).passages
    plain = SpokenRequest(text=text, plain_text=True).passages

    assert [passage.text.strip() for passage in parted] == ["One.", "Two.", ""]
    assert parted[1].is_paragraph
    assert [passage.text for passage in streamed] == [passage.text for passage in plain] == [text]


def test_too_much_silence_and_nothing_but_silence_are_refused():
    with pytest.raises(PauseInvalid, match=r"1,810 seconds in all; the limit is 1,800"):
        Speech().check(SpeechRequest(text="Hello." + "[pause 10s]" * 181), Offers())
    Speech().check(SpeechRequest(text="Hello." + "[pause 10s]" * 180), Offers())
    with pytest.raises(Exception, match="has only pauses"):
        Speech().check(SpeechRequest(text="[pause 1s] \n\n [pause 1s]"), Offers())


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("---\ntitle: A post\ntags: [a, b]\n---\nHello.", ["Hello."]),
        ("\ufeff---\r\n# c\r\ntitle: A post\r\n---\r\nHello.", ["Hello."]),
        ("+++\ntitle = 'A post'\n+++\nHello.", ["Hello."]),
        ("- One.\n\n      ```sh\n      ls\n      ```\n- Two.", ["- One.", "- Two."]),
        ("One.\n```python\nprint([1])\n```\nTwo.", ["One.", "Two."]),
        ("~~~\nx\n~~~\nOne.\n````\n```\n````", ["One.", ""]),
        ("---\nNo fields\n---\nOne.", ["---\nNo fields\n---\nOne."]),
        ("Use ``` and\n```\nnothing closes it.", ["Use ``` and\n```\nnothing closes it."]),
    ],
)
def test_front_matter_and_code_blocks_are_not_spoken_unless_the_text_is_plain(text, spoken):
    for request in (SpokenRequest(text=text), SpeechStreamRequest(text=text)):
        assert [passage.text.strip() for passage in request.passages] == spoken
        assert "".join(passage.source for passage in request.passages) == text
    assert SpokenRequest(text=text, plain_text=True).spoken_text == text
    left = without_code(text).split("\n\n")
    assert [piece.strip() for piece in left if piece.strip()] == [said for said in spoken if said]


@pytest.mark.parametrize(
    "piece",
    [
        "```\n", "`" * 9, "---\na:", "~~~ \n```\n", "```a\n", "[", "[pause", "[ ", "\n ", "\n", "[pause 1s",
        "[pause" + " " * 50, " ", "[pause 1",
    ],
)  # fmt: skip
def test_hostile_texts_take_time_in_proportion_to_their_length(piece):
    text = (piece * 400_000)[:400_000]

    assert least_processor_time(lambda: list(passages(text, blank_lines=True))) < 2
