"""Encoder: a voice as 256 numbers, by Resemblyzer's network (Wan et al. 2018, "Generalized end-to-end loss").

Three LSTM layers over 1.6 seconds of a mel spectrogram, then a linear one. Numpy runs it as fast as onnxruntime does,
since nearly all of it is products of matrices."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines.speakers.weights import Floats, read_tensors
from workers.media.audio.track import Samples

#: The file in the model's folder, and the dictionary in it.
FILE, WITHIN = "pretrained.bin", "model_state"
LAYERS, HIDDEN = 3, 256
#: Samples of a frame of the spectrogram, and from one to the next, at 16 kHz; mel bands.
FRAME, STEP, BANDS = 400, 160, 40
SAMPLE_RATE = 16_000
#: Frames of a window.
WINDOW = 160
#: Windows that are encoded together: more need more memory, and are no faster.
BATCH = 64
#: The network was trained with speech at -30 dBFS and above; as a root of the mean square.
LEVEL = 10**-1.5


class VoiceEncoder:
    """The network; `encode` may be called by several threads."""

    def __init__(self, folder: Path) -> None:
        """Read the weights from a model's folder. Raises NotReady."""
        found = read_tensors(folder / FILE, WITHIN)
        self._layers = [
            (
                np.ascontiguousarray(found[f"lstm.weight_ih_l{number}"].T),
                np.ascontiguousarray(found[f"lstm.weight_hh_l{number}"].T),
                found[f"lstm.bias_ih_l{number}"] + found[f"lstm.bias_hh_l{number}"],
            )
            for number in range(LAYERS)
        ]
        self._linear = np.ascontiguousarray(found["linear.weight"].T), found["linear.bias"]
        self._mel = mel_filters().T

    def spectrogram(self, sound: Samples, gain: float) -> Floats:
        """Return the mel spectrogram of mono samples at 16 kHz, shape (frames, 40); a frame is centred on its time."""
        padded = np.pad(sound.astype(np.float32) * (gain / 32_768), FRAME // 2)
        frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::STEP]
        window = np.hanning(FRAME + 1)[:FRAME].astype(np.float32)
        blocks = (frames[at : at + 4_096] * window for at in range(0, len(frames), 4_096))
        return np.concatenate([np.square(np.abs(np.fft.rfft(one))).astype(np.float32) @ self._mel for one in blocks])

    def encode(self, windows: Floats) -> Floats:
        """Return the voices in windows of a spectrogram, shape (n, 160, 40), as unit vectors of shape (n, 256)."""
        parts = [self._encode(windows[at : at + BATCH]) for at in range(0, len(windows), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, HIDDEN), np.float32)

    def _encode(self, windows: Floats) -> Floats:
        # Time first, so that a step is one contiguous matrix.
        found = np.ascontiguousarray(windows.transpose(1, 0, 2))
        for weights_in, weights_on, bias in self._layers:
            found = np.stack(list(_lstm(found @ weights_in + bias, weights_on)))
        weights, bias = self._linear
        vectors = np.maximum(found[-1] @ weights + bias, 0)
        return unit(vectors)


def unit(vectors: Floats) -> Floats:
    """Return vectors, shape (n, m), with the length 1."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def _lstm(inputs: Floats, weights: Floats) -> Iterator[Floats]:
    """Yield a layer's output of each step; `inputs` (steps, n, 1024) are in torch's order of gates."""
    output = state = np.zeros((inputs.shape[1], HIDDEN), np.float32)
    for step in inputs:
        gates = step + output @ weights
        new = np.tanh(gates[:, 2 * HIDDEN : 3 * HIDDEN])
        # The logistic function: as a tanh it can't overflow.
        gates = 0.5 + 0.5 * np.tanh(0.5 * gates)
        state = gates[:, HIDDEN : 2 * HIDDEN] * state + gates[:, :HIDDEN] * new
        output = gates[:, 3 * HIDDEN :] * np.tanh(state)
        yield output


def mel_filters() -> NDArray[np.float32]:
    """Return Slaney's mel filters, shape (40, 201), normalised by area: those that librosa makes by default."""
    edges = _hertz(np.linspace(_mels(0.0), _mels(SAMPLE_RATE / 2), BANDS + 2))
    bins = np.linspace(0, SAMPLE_RATE / 2, FRAME // 2 + 1)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    filters = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return filters.astype(np.float32)


#: Slaney's scale: linear to 1,000 Hz, where 15 mels are, then logarithmic.
LINEAR, BREAK, BREAK_MELS, LOG_STEP = 200 / 3, 1_000.0, 15.0, np.log(6.4) / 27


def _mels(hertz: float) -> float:
    return hertz / LINEAR if hertz < BREAK else BREAK_MELS + float(np.log(hertz / BREAK)) / LOG_STEP


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < BREAK_MELS, mels * LINEAR, BREAK * np.exp(LOG_STEP * (mels - BREAK_MELS)))
