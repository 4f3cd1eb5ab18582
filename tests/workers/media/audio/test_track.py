"""Tracks: sound of any length that needs no memory."""

import tracemalloc

import numpy as np
import pytest
from sound import level_db

from workers.media.audio.levelling import Levelled
from workers.media.audio.mixing import Bed, mix
from workers.media.audio.track import Track

RATE = 22_050


@pytest.fixture
def track():
    with Track(RATE) as opened:
        yield opened


@pytest.mark.parametrize(
    ("start", "count", "found"),
    [(-2, 3, [0, 0, 7]), (1, 3, [8, 0, 0]), (5, 2, [0, 0]), (-9, 3, [0, 0, 0]), (0, 0, []), (-1, 4, [0, 7, 8, 0])],
)
def test_there_is_silence_before_and_behind(track, start, count, found):
    track.append(b"\x07\x00\x08\x00")

    assert track.read(start, count).tolist() == found


def test_another_rate_keeps_length_and_level(ffmpeg, track):
    tone = np.rint(9_000 * np.sin(2 * np.pi * 1_000 * np.arange(RATE * 2) / RATE)).astype("<i2")
    track.append(tone.tobytes())

    with track.resampled(ffmpeg, 44_100) as finer:
        assert len(finer) == pytest.approx(2 * len(track), abs=2)
        assert level_db(finer.read(9_000, 60_000) / 1.0) == pytest.approx(level_db(tone / 1.0), abs=0.05)


def test_twenty_minutes_are_levelled_and_mixed_in_little_memory(track):
    minute = np.random.default_rng(1).integers(-9_000, 9_000, 60 * RATE).astype("<i2").tobytes()
    for _ in range(20):
        track.append(minute)
    with Track(RATE) as music:
        music.append(minute)
        tracemalloc.start()
        with mix(track, music, Bed()) as mixed:
            for _ in Levelled(mixed).blocks():
                pass
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 100 * 2**20
