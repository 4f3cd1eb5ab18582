"""Naturalness: how good people would call a voice (1 to 5), by DNSMOS P.808 of Microsoft (MIT).

The package speechmos has the network; its own code wants librosa for the spectrum that is made here by NumPy."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.listening import RATE, Floats

#: Parameters of the network's training: seconds at a time, and its spectrum's window, hop and bands.
SECONDS, WINDOW, HOP, BANDS = 9.01, 321, 160, 120


def opinion(sound: Floats) -> float:
    """Return the mean opinion score of a mono sound at 16 kHz, repeated if it is shorter than the network takes."""
    length = int(SECONDS * RATE)
    sound = np.tile(sound, -(-length // len(sound)))[: length - HOP]
    padded = np.pad(sound, WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * np.hanning(WINDOW + 1)[:-1]
    powers = np.abs(np.fft.rfft(frames)) ** 2 @ _bands().T
    decibels = 10 * np.log10(np.maximum(powers, 1e-10))
    decibels = np.maximum(decibels - decibels.max(), -80.0)
    [[[found]]] = _network().run(None, {"input_1": ((decibels + 40) / 40)[None].astype(np.float32)})
    return float(found)


@cache
def _network() -> Any:
    import onnxruntime

    spec = importlib.util.find_spec("speechmos")
    assert spec is not None, "pip install -e '.[test]' brings speechmos"
    folder = Path(next(iter(spec.submodule_search_locations or ())))
    return onnxruntime.InferenceSession(folder / "dnsmos_models" / "model_v8.onnx")


@cache
def _bands() -> Floats:
    """Return the weights of Slaney's mel bands, each of the same area: linear up to 1 kHz, then logarithmic."""
    step, turn = 200 / 3, np.log(6.4) / 27
    highest = 1_000 / step + np.log(RATE / 2 / 1_000) / turn
    places = np.linspace(0, highest, BANDS + 2)
    edges = np.where(places < 1_000 / step, places * step, 1_000 * np.exp(turn * (places - 1_000 / step)))
    hertz = np.fft.rfftfreq(WINDOW, 1 / RATE)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    shape = np.maximum(0, np.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle)))
    made: Floats = shape * 2 / (high - low)
    return made
