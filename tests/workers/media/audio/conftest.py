"""What the tests of sound share."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from capabilities.speech.engines.espeak.espeak import Espeak
from pipeline.settings import Settings
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg
from workers.media.audio.pcm import Pcm
from workers.media.audio.track import Track

TEXT = "The quick brown fox jumps over the lazy dog near the river bank. Who would have thought? Seven sisters sang. "


@pytest.fixture(scope="session")
def ffmpeg() -> Ffmpeg:
    """The ffmpeg that is used without settings."""
    return find_ffmpeg(Settings())


@pytest.fixture(scope="session")
def espeak() -> Espeak:
    """An engine to make speech with."""
    engine = Espeak()
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def speech(espeak: Espeak) -> Pcm:
    """About 20 s of speech."""
    return espeak.speak(TEXT * 3, voice="en-US")


@pytest.fixture
def track_of() -> Iterator[Callable[[np.ndarray | Pcm, int], Track]]:
    """A function that makes a track of float samples (full scale ±1) or of a sound; it is closed after the test."""
    with ExitStack() as opened:

        def make(samples: np.ndarray | Pcm, rate: int = 0) -> Track:
            if isinstance(samples, Pcm):
                track = opened.enter_context(Track(samples.sample_rate))
                track.append_sound(samples)
            else:
                track = opened.enter_context(Track(rate))
                track.append(np.rint(np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes())
            return track

        yield make
