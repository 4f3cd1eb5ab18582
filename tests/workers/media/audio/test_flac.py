"""FLAC of our own: lossless, and at another rate when asked."""

import tempfile

import numpy as np
import pytest

from workers.media.audio.flac import read_flac, write_flac
from workers.media.audio.track import BLOCK, Track


@pytest.mark.parametrize("length", [0, 1, BLOCK + 1])
def test_flac_returns_each_sample(length: int) -> None:
    samples = np.random.default_rng(1).integers(-32_768, 32_767, length, np.int16, endpoint=True)
    with Track(22_050) as track, tempfile.TemporaryFile() as file:
        track.append(samples.astype("<i2").tobytes())
        write_flac(track, file)
        file.seek(0)
        data = file.read()

    assert np.array_equal(np.concatenate([samples[:0], *read_flac(data, sample_rate=22_050)]), samples)
    assert sum(map(len, read_flac(data, sample_rate=44_100))) == pytest.approx(2 * length, abs=32)
