"""Low notes: what a telephone takes from voices, and the detector of speech needs.

A telephone passes 300 to 3,400 Hz. Behind one, Silero's detector missed 41 % of what people said, and 80 % of what made
voices did. The loudness of a voice goes up and down with its lowest note, so the note can be had from it: then 1 % and
6 % were missed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Samples of a block, two seconds at 16 kHz; and where the lowest notes of voices are in its spectrum: 70 to 300 Hz.
BLOCK = 32_000
NOTES = slice(140, 600)
#: Share of a block's power up to 250 Hz below which a telephone has cut it off; in other speech it is above a tenth.
HEARD, LEAST_SHARE = slice(120, 500), 0.01
#: How loud the notes are made for a model that invents text: at 0.3, some notes of music by telephone pass for speech.
SOFT = 0.25


def with_low_notes(sound: NDArray[Any], *, loudness: float = 1.0) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz for the detector alone, with low notes in the blocks that lack them.

    `loudness` is that of the notes beside the loudness of the voice."""
    mended = sound.astype(np.float32)
    for start in range(0, len(sound), BLOCK):
        block = np.zeros(BLOCK, np.float32)
        block[: len(sound) - start] = sound[start : start + BLOCK]
        powers = np.square(np.abs(np.fft.rfft(block)))
        if powers[HEARD].sum() < LEAST_SHARE * powers.sum():
            envelope = np.fft.rfft(np.abs(block))
            notes = np.zeros_like(envelope)
            notes[NOTES] = envelope[NOTES]
            mended[start : start + BLOCK] += loudness * np.fft.irfft(notes, BLOCK)[: len(sound) - start]
    return mended
