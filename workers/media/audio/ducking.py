"""Ducking: music goes down while somebody speaks, a little before the first sound, and comes back in pauses."""

import numpy as np

from workers.media.audio.limiter import Levels
from workers.media.audio.loudness import SILENCE, loudness
from workers.media.audio.metering import Profile

#: How far music goes down, in decibels.
DEPTH = 12.0

#: Speech is what is less than this under the speech's loudness, in LU: breath and noise are farther down.
SPEECH_RANGE = 25.0

#: Seconds: over which the level of speech is taken; before speech, in which music goes down; behind it, in which it
#: stays there (the gap between two words or sentences); and in which it comes back.
WINDOW, ATTACK, HOLD, RELEASE = 0.02, 0.15, 0.25, 0.5


def ducked(speech: Profile) -> Levels:
    """Return the music's gain for each step of the speech: 1 in pauses, a quarter under words."""
    step = speech.step_seconds
    speaking = _speaking(speech)
    before, behind = _distance(speaking[::-1])[::-1] * np.float32(step), _distance(speaking) * np.float32(step)
    # Both are 0 in speech; the nearer word decides.
    depth = np.maximum(1 - before / ATTACK, 1 - np.maximum(behind - HOLD, 0) / RELEASE)
    levels: Levels = (10 ** (-DEPTH * np.clip(depth, 0, 1) / 20)).astype(np.float32)
    return levels


def _speaking(speech: Profile) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell for each step whether somebody speaks."""
    current = loudness(speech)
    width = max(1, round(WINDOW / speech.step_seconds))
    if current == SILENCE or speech.powers.size < width:
        return np.zeros(speech.powers.size, np.bool_)
    powers = np.convolve(speech.powers, np.full(width, 1 / width, np.float32), "same")
    return np.asarray(powers > 10 ** ((current - SPEECH_RANGE) / 10))


def _distance(true: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return for each place how far the last true one is; infinity before the first."""
    places = np.arange(true.size, dtype=np.float32)
    return places - np.maximum.accumulate(np.where(true, places, np.float32(-np.inf))) if true.size else places
