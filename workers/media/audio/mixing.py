"""Mixing: puts music under speech. It fades in and out, is looped if it is short, and is lowered under words.

At the default volume it lies 9.5 LU under words and 8.5 LU under them elsewhere: audible, and no word is lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from workers.engines import Stopped, never
from workers.media.audio.gain import Levels, scaled, step_length, to_bytes
from workers.media.audio.levelling import BLOCK_STEPS
from workers.media.audio.loudness import SILENCE, Profile, gain_to, loudness, profile
from workers.media.audio.track import BLOCK, Track, new_track

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
#: The sample rate of the mix, in hertz.
MIX_RATE = 44_100
#: The highest peak of a mix before it is levelled.
HEADROOM = 0.98
#: How far mastered music is above speech, in LU; `Bed.volume_db` counts from there.
MASTERED = 10.5
#: How much music is lowered under words ("ducking"), in decibels. With 6, an intro was as loud as the voice.
DEPTH = 1.0
#: A step is speech if it is less than this under the loudness of the speech, in LU; breath and noise are lower.
SPEECH_RANGE = 25.0
#: Seconds over which the level of speech is measured; in which music goes down before speech; stays down after it (the
#: gap between two words or sentences); and comes back.
SPEECH_WINDOW, ATTACK, HOLD, RELEASE = 0.02, 0.15, 0.25, 0.5
#: The overlap of the music's end and beginning in a loop: a quarter of the music at most.
SEAM = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Bed:
    """The volume and fades of the music, and its length alone before and after the speech.

    `volume_db` is the gain for a mastered record: at -20 any music is 9.5 LU under words, however loud its file is."""

    volume_db: float = -20.0
    fade: timedelta = timedelta(seconds=2)
    duck: bool = True
    intro: timedelta = timedelta()
    outro: timedelta = timedelta()

    @property
    def under_words(self) -> float:
        """The music's loudness under words, in LU from the speech; never above it."""
        return min(0.0, self.volume_db + MASTERED)

    @property
    def between_words(self) -> float:
        """The music's loudness between words, in LU from the speech."""
        return self.under_words + (DEPTH if self.duck else 0.0)


def mix(speech: Track, music: Track, bed: Bed, *, stop: Callable[[], bool] = never) -> Track:
    """Return speech with music under it, as long as intro, speech and outro. The caller closes the track.

    Raises ValueError for different sample rates, Stopped."""
    if speech.sample_rate != music.sample_rate:
        raise ValueError(f"Speech of {speech.sample_rate} Hz does not mix with music of {music.sample_rate} Hz.")
    alone, played = profile(speech), profile(music)
    voice, under = 10 ** (gain_to(alone) / 20), 10 ** ((gain_to(played) + bed.between_words) / 20)
    before, behind = (round(time.total_seconds() / alone.step_seconds) for time in (bed.intro, bed.outro))
    spoken = Profile(alone.sample_rate, *(np.pad(each, (before, behind)) for each in (alone.powers, alone.peaks)))
    # Both are turned down if together they would pass full scale; a seam is up to 3 dB higher.
    highest = voice * _peak(spoken) + under * _peak(played) * np.sqrt(2)
    share = min(1.0, HEADROOM / highest) if highest else 1.0
    levels = np.float32(under * share) * _bed_levels(spoken, bed)
    step = step_length(speech.sample_rate)
    span = range(-before * step, len(speech) + behind * step)
    with new_track(speech.sample_rate) as mixed:
        for block in _mixed(speech, span, music, np.float32(voice * share), levels):
            if stop():
                raise Stopped
            mixed.append(to_bytes(block))
    return mixed


def fade_levels(steps: int, fade_in: float, fade_out: float) -> Levels:
    """Return the gain of each step of a fade in and out, each at most half of the whole."""
    from_start = np.arange(steps)
    return _risen(from_start, min(fade_in, steps / 2)) * _risen(from_start[::-1], min(fade_out, steps / 2))


def _risen(steps: NDArray[np.int_], length: float) -> Levels:
    """Return the gain of each step of a fade: half a cosine wave."""
    if length <= 0:
        return np.ones(steps.size, np.float32)
    levels: Levels = (0.5 - 0.5 * np.cos(np.pi * np.minimum(steps / length, 1))).astype(np.float32)
    return levels


@contextmanager
def looped(music: Track, *, needed: int) -> Iterator[Track]:
    """Yield music of the samples `needed`, or more: itself, or a loop of it; no sound stays none.

    At each seam its end fades into its beginning at equal power, without a click or a dip."""
    if not 0 < len(music) < needed:
        yield music
        return
    seam = min(round(SEAM.total_seconds() * music.sample_rate), len(music) // 4)
    period = len(music) - seam
    turn = (np.arange(seam) + 0.5) / max(seam, 1) * np.pi / 2
    joint = (music.read(period, seam) * np.cos(turn) + music.read(0, seam) * np.sin(turn)).astype(np.float32)
    with Track(music.sample_rate) as loop:
        for first, stop in ((0, period), (seam, period)):
            for start in range(first, stop, BLOCK):
                loop.append(music.read(start, min(BLOCK, stop - start)).tobytes())
            if not first:
                loop.append(to_bytes(joint))
        while len(loop) < needed:
            # As many whole repetitions at once as there are.
            back = (len(loop) - period) // period * period
            loop.append(loop.read(len(loop) - back, min(back, BLOCK)).tobytes())
        yield loop


def _bed_levels(spoken: Profile, bed: Bed) -> Levels:
    """Return the music's gain for each step of the mix, and the last one again."""
    # The fades of an intro and outro end before the first word, and begin after the last.
    fades = (min(bed.fade, alone) if alone else bed.fade for alone in (bed.intro, bed.outro))
    levels = fade_levels(spoken.powers.size, *(fade.total_seconds() / spoken.step_seconds for fade in fades))
    if bed.duck:
        levels = levels * _ducked(spoken)
    return np.append(levels, levels[-1:])


def _ducked(speech: Profile) -> Levels:
    """Return the gain of ducking for each step: 1 in pauses, a half under words."""
    speaking, step = _speaking(speech), np.float32(speech.step_seconds)
    before, behind = _distance(speaking[::-1])[::-1] * step, _distance(speaking) * step
    # Both are 0 in speech; the nearer word decides.
    depth = np.maximum(1 - before / ATTACK, 1 - np.maximum(behind - HOLD, 0) / RELEASE)
    levels: Levels = (10 ** (-DEPTH * np.clip(depth, 0, 1) / 20)).astype(np.float32)
    return levels


def _speaking(speech: Profile) -> Flags:
    """Return for each step whether somebody speaks."""
    current = loudness(speech)
    width = max(1, round(SPEECH_WINDOW / speech.step_seconds))
    if current == SILENCE or speech.powers.size < width:
        return np.zeros(speech.powers.size, np.bool_)
    powers = np.convolve(speech.powers, np.full(width, 1 / width, np.float32), "same")
    return np.asarray(powers > 10 ** ((current - SPEECH_RANGE) / 10))


def _distance(flags: Flags) -> Floats:
    """Return the distance from each place back to the last true one; infinity before the first."""
    places = np.arange(flags.size, dtype=np.float32)
    return places - np.maximum.accumulate(np.where(flags, places, np.float32(-np.inf))) if flags.size else places


def _mixed(speech: Track, span: range, music: Track, voice: np.float32, levels: Levels) -> Iterator[Floats]:
    """Yield the mix for a span of the speech, which is silent before its start and after its end."""
    step = step_length(speech.sample_rate)
    with looped(music, needed=len(span)) as playing:
        for first in range(0, levels.size - 1, BLOCK_STEPS):
            part = levels[first : first + BLOCK_STEPS + 1]
            wanted = span[first * step : (first + part.size - 1) * step]
            played = playing.read(first * step, len(wanted))
            yield speech.read(wanted.start, len(wanted)) * voice + scaled(played, part, step)


def _peak(measured: Profile) -> float:
    return float(measured.peaks.max(initial=0))
