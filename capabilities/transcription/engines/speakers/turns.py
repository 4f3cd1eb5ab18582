"""Turns: who speaks when, found by comparing the voices in short windows of a recording."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines.low_notes import with_low_notes
from capabilities.transcription.engines.speakers.clustering import best_path, voices_of
from capabilities.transcription.engines.speakers.encoder import LEVEL, SAMPLE_RATE, STEP, WINDOW, VoiceEncoder, unit
from capabilities.transcription.engines.speakers.weights import Floats
from workers.engines import Stopped
from workers.media.audio.track import Samples, Track, windows

#: Length that is looked at once, so that a long recording takes little memory.
LOOK = timedelta(minutes=5)
#: Frames of 10 ms from one window to the next; a second of speech has about two.
HOP = 60
#: Pauses in speech that are shorter, in frames, do not end a piece, within which windows are taken.
JOINED = 30
#: Seconds of a recording by which its level is known.
LISTENED = 100
#: A telephone's voice is often less sure than the detector's usual threshold of 0.5, by which 41 % of it was missed.
THRESHOLD = 0.3
#: The cost of a change of voices, in similarities of windows: a window or two that sound like another one are chance.
CHANGE = 0.05
#: Windows on either side that a voice is smoothed by.
NEIGHBOURS = 2
FRAMES = SAMPLE_RATE // STEP


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of speech by one voice; times in seconds. `speaker` counts from 0, in the order of first words."""

    start: float
    end: float
    speaker: int


@dataclass(frozen=True, slots=True)
class _Window:
    """A window: the stretch of frames that it stands for, the piece of speech that it is in, and its voice."""

    start: int
    end: int
    piece: int
    voice: Floats


def find_turns(
    track: Track, encoder: VoiceEncoder, count: int | None, *, stop: Callable[[], bool], looked: Callable[[float], None]
) -> list[Turn]:
    """Return the turns of at most `count` voices (None: of all) in a track at 16 kHz; `looked` gets the seconds done.

    Raises Stopped."""
    gain = _gain(track)
    found: list[_Window] = []
    for look in windows(track, length=LOOK):
        if stop():
            raise Stopped
        found += _windows(track.read(look.start, len(look)), encoder, gain, look.start // STEP, len(found))
        looked(look.stop / SAMPLE_RATE)
    return turns_of(found, count)


def turns_of(found: Sequence[_Window], count: int | None) -> list[Turn]:
    """Return the turns of windows in order."""
    if not found:
        return []
    vectors = _smoothed(np.stack([one.voice for one in found]), np.array([one.piece for one in found]))
    labels = best_path(vectors @ voices_of(vectors, count).T, stays=CHANGE)
    numbers = {int(label): number for number, label in enumerate(dict.fromkeys(labels.tolist()))}
    turns: list[Turn] = []
    for window, label in zip(found, labels.tolist(), strict=True):
        turn = Turn(window.start / FRAMES, window.end / FRAMES, numbers[label])
        if turns and turns[-1].speaker == turn.speaker and turn.start - turns[-1].end < JOINED / FRAMES:
            turns[-1] = Turn(turns[-1].start, turn.end, turn.speaker)
        else:
            turns.append(turn)
    return turns


def _windows(sound: Samples, encoder: VoiceEncoder, gain: float, offset: int, number: int) -> Iterator[_Window]:
    """Yield the windows of a sound; `number` tells its pieces from those before."""
    pieces = find_speech(sound)
    if not pieces:
        return
    starts = [start for piece in pieces for start in _starts(*piece)]
    places = [place for place, piece in enumerate(pieces) for _ in _starts(*piece)]
    mel = np.pad(encoder.spectrogram(sound, gain), ((WINDOW, WINDOW), (0, 0)))
    voices = encoder.encode(np.stack([mel[start + WINDOW : start + 2 * WINDOW] for start in starts]))
    for at, (start, place, voice) in enumerate(zip(starts, places, voices, strict=True)):
        # A window stands for the frames that are nearer to its middle than to that of its neighbours in the piece.
        begin, end = pieces[place]
        if at and places[at - 1] == place:
            begin = (starts[at - 1] + start + WINDOW) // 2
        if at + 1 < len(starts) and places[at + 1] == place:
            end = (start + starts[at + 1] + WINDOW) // 2
        yield _Window(offset + begin, offset + end, number + place, voice)


def _gain(track: Track) -> float:
    """Return how much louder a quiet recording must be, by the louder half of some of its seconds.

    It is one for all of it: how loud somebody is tells people apart as well."""
    starts = np.linspace(0, max(0, len(track) - SAMPLE_RATE), LISTENED).astype(int)
    powers = [np.mean(np.square(track.read(int(at), SAMPLE_RATE) / 32_768)) for at in starts]
    loud = np.sort(powers)[len(powers) // 2 :]
    return max(1.0, LEVEL / max(float(np.sqrt(np.mean(loud))), 1e-4))


def _starts(begin: int, end: int) -> NDArray[np.int64]:
    """Return where the windows of a piece start: evenly in it, or around one that is shorter than a window."""
    spare = end - begin - WINDOW
    if spare <= 0:
        return np.array([(begin + end - WINDOW) // 2])
    return np.linspace(begin, end - WINDOW, -(-spare // HOP) + 1).astype(np.int64)


def find_speech(sound: Samples) -> list[tuple[int, int]]:
    """Return the first frame of each piece of speech and the one behind its last."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    how = VadOptions(threshold=THRESHOLD, min_speech_duration_ms=200, min_silence_duration_ms=200, speech_pad_ms=60)
    pieces: list[tuple[int, int]] = []
    for speech in get_speech_timestamps(with_low_notes(sound.astype(np.float32) / 32_768), how):
        begin, end = speech["start"] // STEP, speech["end"] // STEP
        if pieces and begin - pieces[-1][1] < JOINED:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((begin, end))
    return pieces


def _smoothed(vectors: Floats, pieces: NDArray[np.int64]) -> Floats:
    """Return voices with half of each of the two neighbours on either side in the same piece added, as unit vectors."""
    found = vectors.copy()
    for distance in range(1, NEIGHBOURS + 1):
        same = (pieces[distance:] == pieces[:-distance])[:, None]
        found[distance:] += 0.5 * vectors[:-distance] * same
        found[:-distance] += 0.5 * vectors[distance:] * same
    return unit(found)
