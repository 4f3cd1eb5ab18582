"""Turns: who speaks when, by voices that differ."""

from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from spoken import RATE, samples_of

from capabilities.transcription.engines.speakers.encoder import VoiceEncoder, mel_filters
from capabilities.transcription.engines.speakers.turns import Turn, find_turns
from capabilities.transcription.engines.speakers.weights import Floats
from workers.engines import Stopped, never
from workers.media.audio.track import Samples, Track


class TimbreEncoder(VoiceEncoder):
    """Tells voices apart by the mean of their spectrum, without a model."""

    def __init__(self) -> None:
        self._mel = mel_filters().T

    def encode(self, windows: Floats) -> Floats:
        timbres = np.log(windows + 1e-6).mean(axis=1)
        timbres -= timbres.mean(axis=1, keepdims=True)
        return np.asarray(timbres / np.linalg.norm(timbres, axis=1, keepdims=True), np.float32)


def lower(samples: Samples) -> Samples:
    """Return a recording as a larger person would speak it."""
    places = np.arange(0, len(samples) - 1, 0.7)
    return np.interp(places, np.arange(len(samples)), samples).astype(np.int16)


def track_of(*parts: Samples) -> Track:
    track = Track(RATE)
    for part in parts:
        track.append(part.astype("<i2").tobytes())
        track.append_silence(timedelta(seconds=0.4))
    return track


def turns_in(track: Track, count: int) -> list[Turn]:
    with track:
        return find_turns(track, TimbreEncoder(), count, stop=never, looked=lambda seconds: None)


def speaker_at(turns: list[Turn], seconds: float) -> int:
    return min(turns, key=lambda turn: abs((turn.start + turn.end) / 2 - seconds) - (turn.end - turn.start) / 2).speaker


HIGH = samples_of("market")[: 6 * RATE]
LOW = lower(HIGH)[: 6 * RATE]


def test_two_people_in_turns_are_two_speakers_in_the_order_of_their_first_words() -> None:
    turns = turns_in(track_of(LOW, HIGH, LOW), 2)

    assert [speaker_at(turns, seconds) for seconds in (1, 3, 5, 8, 10, 12, 14, 16, 18)] == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert all(earlier.end <= later.start + 1e-6 for earlier, later in pairwise(turns))


def test_music_between_talks_belongs_to_nobody() -> None:
    times = np.arange(8 * RATE) / RATE
    chord = sum(np.sin(2 * np.pi * hertz * times) for hertz in (220, 277.2, 329.6)) * np.exp(-times % 0.5)
    music = (chord * 4_000).astype(np.int16)

    turns = turns_in(track_of(LOW, music, HIGH), 2)

    first, last = len(LOW) / RATE, (len(LOW) + len(music)) / RATE + 0.4
    assert sum(max(0.0, min(turn.end, last) - max(turn.start, first)) for turn in turns) < 1
    assert {turn.speaker for turn in turns} == {0, 1}


def test_nobody_speaks_in_silence_and_in_less_than_a_window_somebody_may() -> None:
    assert turns_in(track_of(np.zeros(20 * RATE, np.int16)), 3) == []
    assert len(turns_in(track_of(HIGH[: RATE + RATE // 2]), 4)) <= 1


def test_a_job_that_is_over_stops_it() -> None:
    with track_of(HIGH) as track, pytest.raises(Stopped):
        find_turns(track, TimbreEncoder(), 2, stop=lambda: True, looked=lambda seconds: None)
