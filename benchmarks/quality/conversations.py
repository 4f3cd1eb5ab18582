"""Conversations: turns of known voices, mixed with overlap, noise or a telephone's band, and who speaks in them."""

import wave
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.listening import Floats, resample

RATE = 16_000
#: Samples of a frame of the reference: 10 ms.
FRAME = 160
CONDITIONS = ("clean", "noise", "telephone")
#: Share of turns that begin before the last one has ended, and by how many seconds at most.
OVERLAPPING, LONGEST_OVERLAP = 0.15, 1.5
#: How much louder the voices are than the noise.
NOISE_DB = 12.0
#: A frame in which a voice is so much weaker than its loudest is a pause of it.
PAUSE_DB = 35.0
#: Seconds around a change of speakers that are not judged, as usual.
COLLAR = 0.25

Frames = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A mixed recording; `spoken` says for each frame and voice whether it speaks, shape (frames, voices)."""

    name: str
    sound: Floats
    spoken: Frames


def conversations(
    voices: Mapping[str, Sequence[Floats]], *, counts: Sequence[int], seconds: float, seed: int
) -> Iterator[Conversation]:
    """Yield a conversation for each number of voices and each condition."""
    for count in counts:
        for place, condition in enumerate(CONDITIONS):
            random = np.random.default_rng((seed, count, place))
            names = random.choice(sorted(voices), count, replace=False)
            mixed, spoken = _mix([voices[name] for name in names], seconds, random)
            yield Conversation(f"{count} voices, {condition}", _through(mixed, condition, random), spoken)


def _mix(voices: Sequence[Sequence[Floats]], seconds: float, random: np.random.Generator) -> tuple[Floats, Frames]:
    sound = np.zeros(round((seconds + 30) * RATE), np.float32)
    spoken = np.zeros((len(sound) // FRAME, len(voices)), bool)
    levels = 10 ** (random.uniform(-6, 0, len(voices)) / 20)
    at, last = RATE // 2, -1
    while at < seconds * RATE:
        speaker = int(random.choice([one for one in range(len(voices)) if one != last or len(voices) == 1]))
        if last >= 0 and random.random() < OVERLAPPING:
            at = max(0, at - round(random.uniform(0.3, LONGEST_OVERLAP) * RATE))
        else:
            at += round(random.uniform(0.1, 0.8) * RATE)
        at = at // FRAME * FRAME
        for _ in range(int(random.integers(1, 4))):
            said = voices[speaker][int(random.integers(len(voices[speaker])))] * levels[speaker]
            said = said[: min(len(said), max(0, len(sound) - at)) // FRAME * FRAME]
            if not len(said):
                break
            sound[at : at + len(said)] += said
            spoken[at // FRAME : (at + len(said)) // FRAME, speaker] |= active(said)
            at += len(said) + round(random.uniform(0, 0.3) * RATE) // FRAME * FRAME
        last = speaker
    length = min(len(sound), at + RATE // 2) // FRAME * FRAME
    return sound[:length], spoken[: length // FRAME]


def active(said: Floats) -> Frames:
    """Return the frames of an utterance in which its voice is heard; pauses under 0.2 s count as speech."""
    powers = np.square(said).reshape(-1, FRAME).mean(axis=1)
    loud = powers > powers.max(initial=0) / 10 ** (PAUSE_DB / 10)
    wide = np.convolve(loud, np.ones(20), "same") > 0
    return np.convolve(wide, np.ones(19), "same") >= 19


def _through(sound: Floats, condition: str, random: np.random.Generator) -> Floats:
    """Return a sound as it comes through noise, or through a telephone."""
    sound = sound / max(1e-6, float(np.abs(sound).max())) * 0.7
    if condition == "clean":
        return sound
    spectrum = np.fft.rfft(sound if condition == "telephone" else random.standard_normal(sound.size))
    hertz = np.fft.rfftfreq(sound.size, 1 / RATE)
    if condition == "telephone":
        spectrum[(hertz < 300) | (hertz > 3_400)] = 0
        band = np.fft.irfft(spectrum, sound.size)
        coded = np.round(127 * np.sign(band) * np.log1p(255 * np.abs(band)) / np.log(256)) / 127  # ITU-T G.711
        return (np.sign(coded) * (np.expm1(np.abs(coded) * np.log(256)) / 255)).astype(np.float32)
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(hertz, 20)), sound.size)
    loud = np.sqrt(np.mean(np.square(sound[np.abs(sound) > 0.02])))
    return (sound + noise * loud / 10 ** (NOISE_DB / 20) / np.sqrt(np.mean(np.square(noise)))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Errors:
    """Seconds of speech, and of it what was missed, invented, or given to another voice."""

    speech: float
    missed: float
    invented: float
    confused: float

    @property
    def rate(self) -> float:
        """The diarization error rate."""
        return (self.missed + self.invented + self.confused) / max(self.speech, 1e-9)

    def __add__(self, other: "Errors") -> "Errors":
        return Errors(
            self.speech + other.speech,
            self.missed + other.missed,
            self.invented + other.invented,
            self.confused + other.confused,
        )


def count_errors(spoken: Frames, found: Frames) -> Errors:
    """Compare who speaks with who was found, both (frames, voices), overlap included, with a collar."""
    from scipy.optimize import linear_sum_assignment

    length = min(len(spoken), len(found))
    spoken, found = spoken[:length], found[:length]
    changes = np.any(spoken[1:] != spoken[:-1], axis=1)
    width = 2 * round(COLLAR * RATE / FRAME) + 1
    judged = ~(np.convolve(np.concatenate([changes, [False]]), np.ones(width), "same") > 0)
    spoken, found = spoken[judged], found[judged]
    rows, columns = linear_sum_assignment(-(spoken.T.astype(float) @ found.astype(float)))
    right = np.zeros(len(spoken))
    for row, column in zip(rows, columns, strict=True):
        right += spoken[:, row] & found[:, column]
    there, told = spoken.sum(axis=1), found.sum(axis=1)
    seconds = FRAME / RATE
    return Errors(
        speech=float(there.sum()) * seconds,
        missed=float(np.maximum(there - told, 0).sum()) * seconds,
        invented=float(np.maximum(told - there, 0).sum()) * seconds,
        confused=float((np.minimum(there, told) - right).sum()) * seconds,
    )


def read_wav(path: Path) -> Floats:
    """Return a WAV file at 16 kHz, as loud as others."""
    with wave.open(str(path)) as recording:
        rate = recording.getframerate()
        samples = np.frombuffer(recording.readframes(recording.getnframes()), "<i2") / 32_768
    sound = resample(samples, rate).astype(np.float32)
    loud = np.sqrt(np.mean(np.square(sound[np.abs(sound) > 0.02]))) if np.any(np.abs(sound) > 0.02) else 1.0
    return sound * np.float32(0.1 / loud)
