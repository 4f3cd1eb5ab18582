"""Network: a speech network in an ONNX file, which also tells the durations of its phonemes.

The networks predict a duration for each phoneme, round it to whole frames, and make the sound from that. The rounded
durations are the times of the words; the exact ones tell the length at another speed. An ONNX file is one protocol
buffer message, of which a few fields are read here; the package onnx would bring 20 MB.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capabilities.speech.engines.neural.voiced import Frames
from pipeline.errors import NotReady

# onnx.proto: field numbers of ModelProto, GraphProto and NodeProto.
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_OUTPUT = 1, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATION = 1, 2, 4
_VALUE_NAME = 1

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


class Network:
    """The session of an ONNX file, whose bytes have been verified. A call uses one core; threads may call it at once.

    Raises NotReady if it does not load."""

    def __init__(self, path: Path) -> None:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as raised

        options = onnxruntime.SessionOptions()
        # More threads for one sentence gain less than more sentences at once.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            model = path.read_bytes()
            self._durations = find_durations(model)
            if self._durations is not None:
                model = with_outputs(model, self._durations.exact, self._durations.rounded)
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except (
            OSError, ValueError, IndexError, raised.Fail, raised.InvalidArgument, raised.InvalidGraph,
            raised.InvalidProtobuf, raised.NoModel, raised.NotImplemented, raised.RuntimeException,
        ) as error:  # fmt: skip
            raise NotReady(f"{path} does not load as a network ({type(error).__name__}).") from error
        #: In the order of the file.
        self.inputs = tuple(given.name for given in self._session.get_inputs())

    def run(self, inputs: Mapping[str, Any]) -> tuple[list[Any], Frames | None]:
        """Return the outputs of the file, and the length of each phoneme, or None if the network does not tell."""
        outputs = self._session.run(None, dict(inputs))
        if self._durations is None:
            return outputs, None
        return outputs[:-2], Frames(outputs[-2].ravel(), outputs[-1].ravel(), self._durations.is_rounded_up)


@dataclass(frozen=True, slots=True)
class Durations:
    """The names of the tensors that hold each input's frames before and after rounding."""

    exact: str
    rounded: str
    #: Else to the nearest, and at least 1.
    is_rounded_up: bool


@dataclass(frozen=True, slots=True)
class _Node:
    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def find_durations(model: bytes) -> Durations | None:
    """Return the durations of a network; None if it has none of a known form.

    Piper (VITS) rounds them up by the one Ceil of its graph; Kokoro and hibari (StyleTTS 2) use Round and then Clip,
    since no phoneme is shorter than a frame."""
    nodes = list(_nodes(model))
    ceils = [node for node in nodes if node.operation == "Ceil"]
    if len(ceils) == 1:
        return Durations(ceils[0].inputs[0], ceils[0].outputs[0], is_rounded_up=True)
    rounds = {node.outputs[0]: node.inputs[0] for node in nodes if node.operation == "Round"}
    clips = [node for node in nodes if node.operation == "Clip" and node.inputs[0] in rounds]
    if len(clips) == 1:
        return Durations(rounds[clips[0].inputs[0]], clips[0].outputs[0], is_rounded_up=False)
    return None


def with_outputs(model: bytes, *names: str) -> bytes:
    """Return the model with more of its tensors as outputs, after its own.

    Protocol buffers merge a message that occurs twice, so a graph of outputs alone is appended."""
    outputs = b"".join(_field(_GRAPH_OUTPUT, _field(_VALUE_NAME, name.encode())) for name in names)
    return model + _field(_MODEL_GRAPH, outputs)


def _nodes(model: bytes) -> Iterator[_Node]:
    for graph in _fields(model, 0, len(model), _MODEL_GRAPH):
        for node in _fields(model, *graph, _GRAPH_NODE):
            texts = {
                number: tuple(model[start:end].decode() for start, end in _fields(model, *node, number))
                for number in (_NODE_OPERATION, _NODE_INPUT, _NODE_OUTPUT)
            }
            yield _Node("".join(texts[_NODE_OPERATION]), texts[_NODE_INPUT], texts[_NODE_OUTPUT])


def _fields(message: bytes, start: int, end: int, wanted: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of the fields of a number, with variable length, in a message."""
    place = start
    while place < end:
        key, place = _varint(message, place)
        length, kind = 0, key & 7
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind == _BYTES:
            length, place = _varint(message, place)
            if key >> 3 == wanted:
                yield place, place + length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"An ONNX file has no field of kind {kind}.")
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _field(number: int, content: bytes) -> bytes:
    return _encoded(number << 3 | _BYTES) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
