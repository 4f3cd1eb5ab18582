"""Speakers of segments, and how the forms of a transcript tell it."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from capabilities.transcription.engines import HeardSegment
from capabilities.transcription.engines.speakers.turns import Turn
from capabilities.transcription.handlers.delivery import render, rendered, transcript_of
from capabilities.transcription.handlers.progress import Transcribed
from capabilities.transcription.handlers.speakers import MODEL, Speakers, SpeakersNotAvailable, near, split
from capabilities.transcription.kinds.transcription import (
    RecordingInput,
    Transcription,
    TranscriptionRequest,
)
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.subtitles.segments import Word
from workers.engines.resources import Resources

TURNS = [Turn(0, 2, 0), Turn(2, 5, 1), Turn(5.5, 9, 0)]


def segment(*words: str, start: float = 0.0, each: float = 0.5) -> HeardSegment:
    """Return a segment of words that follow each other."""
    times = [start + each * number for number in range(len(words) + 1)]
    spoken = [Word(start=times[place], end=times[place + 1], word=word) for place, word in enumerate(words)]
    return HeardSegment(start=start, end=times[-1], text=" ".join(words), words=spoken)


def told(*segments: HeardSegment) -> list[tuple[str | None, str]]:
    return [(part.speaker, part.text) for one in segments for part in split(one, near(one, TURNS))]


def test_a_segment_in_which_the_speaker_changes_becomes_two() -> None:
    assert told(segment("Are", "you", "here?", "Well,", "yes,", "I", "am.")) == [
        ("Speaker 1", "Are you here? Well,"),
        ("Speaker 2", "yes, I am."),
    ]


def test_a_short_word_at_the_edge_of_a_turn_is_no_turn() -> None:
    assert told(segment("I", "say", "so.", start=0.8, each=0.45)) == [("Speaker 1", "I say so.")]


def test_a_segment_without_words_belongs_to_who_speaks_longest_in_it() -> None:
    whole = HeardSegment(start=1.5, end=4, text="Hello there.")
    assert told(whole) == [("Speaker 2", "Hello there.")]


class Engine:
    name, warning = "whisper", None


def diarized(form: str) -> str:
    segments = [*split(segment("Are", "you", "there?"), TURNS), *split(segment("I", "am.", start=3), TURNS)]
    transcribed = Transcribed(engine="whisper", language="en", segments=segments)
    engine: Any = Engine()
    transcript = transcript_of(transcribed, engine, seconds=9, price=5, is_diarized=True)
    wanted = RecordingInput(language=None, response_format=form, speakers=2)  # type: ignore[arg-type]
    return rendered(transcript, wanted, segments)


def test_every_form_tells_who_speaks() -> None:
    verbose = json.loads(diarized("verbose_json"))
    assert verbose["speakers"] == ["Speaker 1", "Speaker 2"]
    assert [one["speaker"] for one in verbose["segments"]] == verbose["speakers"]
    assert "\nSpeaker 1: Are you there?\n" in diarized("srt")
    assert "\nSpeaker 2: I am.\n" in diarized("vtt")
    assert diarized("text") == "Speaker 1: Are you there?\n\nSpeaker 2: I am."
    openai = json.loads(diarized("openai_diarized_json"))
    assert [(one["speaker"], one["text"]) for one in openai["segments"]] == [("A", "Are you there?"), ("B", "I am.")]
    assert openai["text"] == "Are you there? I am."


def test_forms_without_diarize_are_as_they_were() -> None:
    transcribed = Transcribed(engine="whisper", language="en", segments=[segment("Hello.")])
    engine: Any = Engine()
    transcript = transcript_of(transcribed, engine, seconds=9, price=5)
    for form in ("json", "verbose_json", "srt", "text"):
        assert "peaker" not in render(transcript, form)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sent", "speakers"),
    [({}, None), ({"speakers": 2}, None), ({"diarize": True}, 0), ({"diarize": True, "speakers": 2}, 2)],
)
def test_people_are_counted_unless_their_number_is_sent(sent: dict[str, Any], speakers: int | None) -> None:
    (item,) = Transcription().items(TranscriptionRequest(**sent))
    assert item.input.speakers == speakers


def test_who_asks_for_speakers_in_vain_gets_a_remedy_and_no_path_of_the_machine() -> None:
    def folder(_: object) -> None:
        raise NotReady("[Errno 13] Permission denied: '/home/press/models'")

    speakers, store = Speakers(Resources(Settings())), SimpleNamespace(catalogue={MODEL: None}, folder=folder)
    speakers._store = store  # type: ignore[assignment]
    with pytest.raises(SpeakersNotAvailable, match="pressroom models fetch resemblyzer") as refused:
        speakers.load()
    assert "/home" not in refused.value.message
