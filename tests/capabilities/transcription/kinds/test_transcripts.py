"""Transcripts: their forms, their times, and what they cost."""

import json
from datetime import timedelta
from typing import Any

import pytest
import srt
import webvtt
from pydantic import ValidationError

from capabilities.transcription.handlers.delivery import render
from capabilities.transcription.kinds.transcription import (
    RecordingLanguageUnknown,
    Transcription,
    TranscriptionRequest,
)
from capabilities.transcription.kinds.transcripts import FORMATS, Transcript, transcription_credits
from pipeline.kind import as_json
from pipeline.offers.languages import LanguageNotSupported
from pipeline.offers.offers import Offer, Offers
from pipeline.subtitles.segments import Segment, Word, join_texts

SEGMENTS = [
    Segment(start=0.5, end=2.25, text="Hello & <b>welcome</b>.", words=[Word(start=0.5, end=1, word="Hello")]),
    Segment(start=2.25, end=3.999, text="An --> arrow, “quotes” and 漢字."),
    Segment(start=3_599.9996, end=3_661.5, text="An hour later."),
    Segment(start=360_000.25, end=360_001, text="A hundred hours later."),
]


def transcript(segments: list[Segment] = SEGMENTS, language: str = "en") -> Transcript:
    return Transcript(
        text=join_texts(segments, language),
        language=language,
        language_probability=0.9,
        duration=4.0,
        credits_used=5,
        draft=False,
        warnings=[],
        segments=segments,
    )


def seconds(time: timedelta) -> float:
    return time / timedelta(seconds=1)


def clock(text: str) -> float:
    hours, minutes, rest = text.split(":")
    return int(hours) * 3_600 + int(minutes) * 60 + float(rest)


def test_silence_is_an_empty_text_in_each_form() -> None:
    empty = {form: render(transcript([], "auto"), form) for form in FORMATS}

    assert empty["text"] == empty["srt"] == ""
    assert empty["vtt"] == "WEBVTT\n"
    assert json.loads(empty["json"])["text"] == ""
    assert json.loads(empty["verbose_json"])["segments"] == []
    assert list(srt.parse("")) == webvtt.from_string("WEBVTT\n").captions == []


def test_json_has_no_segments_and_verbose_json_has_them_all() -> None:
    brief, verbose = (json.loads(render(transcript(), form)) for form in ("json", "verbose_json"))

    assert "segments" not in brief
    assert brief.items() <= verbose.items()
    assert verbose["segments"][0]["words"] == [{"start": 0.5, "end": 1.0, "word": "Hello", "probability": None}]
    assert [segment["id"] for segment in verbose["segments"]] == [0, 1, 2, 3]
    assert brief["text"].startswith("Hello & <b>welcome</b>. An -->")


def test_signs_that_nobody_sees_are_in_no_text() -> None:
    said = " a\0b\x1b[31m\u2028\x85\r\n\tc\x7f\u200dd "

    moved = Segment(start=0, end=1, text=said, words=[Word(start=0, end=1, word=said)]).moved(0, latest=1)

    assert moved.text == "a b [31m c \u200dd"
    assert moved.words is not None
    assert moved.words[0].word == moved.text


def test_a_segment_that_is_moved_stays_in_order_within_the_sound_and_on_one_line() -> None:
    words = [Word(start=-0.1, end=0.2, word=" a\n"), Word(start=0.2, end=9, word="b ")]

    moved = Segment(start=0.1, end=9, text=" a\n\n b ", words=words).moved(10, latest=12)

    assert (moved.start, moved.end, moved.text) == (10.1, 12.0, "a b")
    assert moved.words is not None
    assert [(word.start, word.end, word.word) for word in moved.words] == [(9.9, 10.2, "a"), (10.2, 12.0, "b")]


@pytest.mark.parametrize(
    ("length", "credits"),
    [(0.01, 5), (30, 5), (60, 5), (60.1, 5), (60.101, 10), (150, 15), (3_600.09, 300), (4 * 3_600, 1_200)],
)
def test_each_started_minute_costs_five_credits(length: float, credits: int) -> None:
    assert transcription_credits(timedelta(seconds=length)) == credits


# The kind.

KIND = Transcription()
WHISPER = Offer("transcription", "whisper", ready=True, content={"languages": ["de", "en", "zh"]})
ENGLISH = Offer("transcription", "english", ready=True, content={"languages": ["en"]})


def check(language: str, *offers: Offer, **fields: Any) -> dict[str, Any]:
    request = TranscriptionRequest(language=language, **fields)
    KIND.check(request, Offers(offers))
    [item] = KIND.items(request)
    assert item.price == 5
    return as_json(item.input)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("en", "en"), ("en-US", "en"), ("DE_at", "de"), (" de ", "de"), ("zh-Hant-TW", "zh"), ("auto", None),
        ("AUTO", None),
    ],
)  # fmt: skip
def test_a_language_is_taken_as_people_write_it(sent: str, stored: str | None) -> None:
    assert check(sent, WHISPER, ENGLISH) == {"language": stored, "response_format": "json", "prompt": None}


@pytest.mark.parametrize("sent", ["", "xx", "english", "e", "123", "\N{FULLWIDTH LATIN SMALL LETTER E}n"])
def test_what_is_no_language_is_refused(sent: str) -> None:
    with pytest.raises(RecordingLanguageUnknown) as raised:
        check(sent, WHISPER)
    assert raised.value.code == "language_unknown"


def test_a_language_that_no_ready_engine_understands_is_refused_with_those_that_are() -> None:
    with pytest.raises(LanguageNotSupported, match="Send en\\.") as raised:
        check("de", ENGLISH, Offer("transcription", "whisper", ready=False, needs="a model"))
    assert raised.value.code == "language_not_supported"


FETCHABLE = {
    "languages": ["en"],
    "fetchable": [
        {"model": "whisper-small", "languages": ["de", "en", "fr"], "voices": []},
        {"model": "whisper-base", "languages": ["de", "en"], "voices": []},
        {"model": "whisper-tiny.en", "languages": ["en"], "voices": []},
    ],
}


@pytest.mark.parametrize(("language", "model"), [("de", "whisper-base"), ("fr", "whisper-small")])
def test_a_language_that_a_model_would_bring_is_refused_with_the_smallest_that_does(language: str, model: str) -> None:
    with pytest.raises(LanguageNotSupported, match=f"pressroom models fetch {model}. Send en."):
        check(language, Offer("transcription", "whisper", ready=True, content=FETCHABLE))


def test_a_language_that_nothing_would_bring_is_refused_without_a_promise() -> None:
    with pytest.raises(LanguageNotSupported, match=r"understands 'kv'. Send en\."):
        check("kv", Offer("transcription", "whisper", ready=True, content=FETCHABLE))


def test_names_that_are_said_go_to_the_worker_up_to_a_thousand_characters() -> None:
    names = "Ngũgĩ wa Thiong'o, Søren Kierkegaard"

    assert check("en", prompt=names)["prompt"] == names
    assert check("en", prompt="x" * 1_000)["prompt"] == "x" * 1_000
    with pytest.raises(ValidationError, match="at most 1000 characters"):
        check("en", prompt="x" * 1_001)


def test_before_any_pool_has_spoken_up_every_language_is_taken() -> None:
    assert check("de")["language"] == "de"
    assert check("nb")["language"] == "no"


def test_subrip_is_read_by_a_library_that_others_wrote() -> None:
    cues = list(srt.parse(render(transcript(), "srt")))

    assert [cue.index for cue in cues] == [1, 2, 3, 4]
    for cue, segment in zip(cues, SEGMENTS, strict=True):
        assert seconds(cue.start) == pytest.approx(segment.start, abs=0.05)
        assert seconds(cue.end) == pytest.approx(segment.end, abs=0.05)
    assert [cue.content for cue in cues][:2] == ["Hello & <b>welcome</b>.", "An → arrow, “quotes” and 漢字."]


def test_webvtt_is_read_by_a_library_that_others_wrote() -> None:
    cues = webvtt.from_string(render(transcript(), "vtt")).captions

    for cue, segment in zip(cues, SEGMENTS, strict=True):
        assert clock(cue.start) == pytest.approx(segment.start, abs=0.05)
        assert clock(cue.end) == pytest.approx(segment.end, abs=0.05)
    assert cues[0].raw_text == "Hello &amp; &lt;b&gt;welcome&lt;/b&gt;."
    assert cues[1].raw_text == "An --&gt; arrow, “quotes” and 漢字."
