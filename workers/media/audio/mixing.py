"""Mixing: background music under speech."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from workers.engines import Stopped, never
from workers.media.audio.ducking import ducked
from workers.media.audio.limiter import Levels, scaled, step_length
from workers.media.audio.looping import looped
from workers.media.audio.loudness import gain_to, to_bytes
from workers.media.audio.metering import Profile, profile
from workers.media.audio.track import Track, new_track

#: The rate that music is mixed at, in hertz; speech is brought to it.
MIX_RATE = 44_100

#: Steps mixed at once: 8 s.
BLOCK_STEPS = 2**13

#: The highest peak of a mix before it is levelled.
HEADROOM = 0.98


@dataclass(frozen=True, slots=True)
class Bed:
    """How music lies under speech: `volume_db` from the loudness of the speech; both are brought to -16 LUFS first."""

    volume_db: float = -20.0
    fade: timedelta = timedelta(seconds=2)
    duck: bool = True


def mix(speech: Track, music: Track, bed: Bed, *, stop: Callable[[], bool] = never) -> Track:
    """Return speech with music under it, exactly as long as the speech, and not levelled yet: `normalised` does that.

    Both have one sample rate, else ValueError. The caller closes the track. Raises Stopped.
    """
    if speech.sample_rate != music.sample_rate:
        raise ValueError(f"Speech of {speech.sample_rate} Hz does not mix with music of {music.sample_rate} Hz.")
    spoken, played = profile(speech), profile(music)
    voice, under = 10 ** (gain_to(spoken) / 20), 10 ** ((gain_to(played) + bed.volume_db) / 20)
    # Both are turned down alike when together they would pass full scale; at equal power a seam is up to 3 dB higher.
    highest = voice * _peak(spoken) + under * _peak(played) * np.sqrt(2)
    share = min(1.0, HEADROOM / highest) if highest else 1.0
    levels = np.float32(under * share) * _bed_levels(spoken, bed)
    with new_track(speech.sample_rate) as mixed:
        for block in _mixed(speech, music, np.float32(voice * share), levels):
            if stop():
                raise Stopped
            mixed.append(to_bytes(block))
    return mixed


def fade_levels(steps: int, fade: float) -> Levels:
    """Return the gain of each step that fades in over `fade` steps and out again, shortened to half of the whole."""
    length = min(fade, steps / 2)
    if length <= 0:
        return np.ones(steps, np.float32)
    to_an_end = np.minimum(np.arange(steps), np.arange(steps)[::-1])
    # Half a wave of a cosine: no corner at either end.
    levels: Levels = (0.5 - 0.5 * np.cos(np.pi * np.minimum(to_an_end / length, 1))).astype(np.float32)
    return levels


def _bed_levels(spoken: Profile, bed: Bed) -> Levels:
    """Return the music's gain for each step of the speech, and once more the last."""
    faded = fade_levels(spoken.powers.size, bed.fade.total_seconds() / spoken.step_seconds)
    levels = faded * ducked(spoken) if bed.duck else faded
    return np.append(levels, levels[-1:])


def _mixed(speech: Track, music: Track, voice: np.float32, levels: Levels) -> Iterator[NDArray[np.float32]]:
    step = step_length(speech.sample_rate)
    playing = _cut(looped(music, needed=len(speech)), BLOCK_STEPS * step)
    for first in range(0, levels.size - 1, BLOCK_STEPS):
        part = levels[first : first + BLOCK_STEPS + 1]
        spoken = speech.read(first * step, min((part.size - 1) * step, len(speech) - first * step))
        played = next(playing, np.zeros(spoken.size, np.float32))[: spoken.size]
        yield spoken * voice + scaled(np.pad(played, (0, spoken.size - played.size)), part, step)


def _cut(blocks: Iterator[NDArray[np.float32]], size: int) -> Iterator[NDArray[np.float32]]:
    """Yield the same samples in blocks of `size`; the last may be shorter."""
    kept: list[NDArray[np.float32]] = []
    count = 0
    for block in blocks:
        kept.append(block)
        count += block.size
        if count < size:
            continue
        joined = np.concatenate(kept)
        whole = count // size * size
        yield from joined[:whole].reshape(-1, size)
        kept, count = [joined[whole:]], count - whole
    if count:
        yield np.concatenate(kept)


def _peak(measured: Profile) -> float:
    return float(measured.peaks.max(initial=0))
