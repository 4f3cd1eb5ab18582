"""Network: a speech network in an ONNX file, which also tells the durations of its phonemes.

The networks predict a duration for each phoneme, round it to whole frames, and make the sound from that. The rounded
durations are the times of the words; the exact ones tell the length at another speed. An ONNX file is one protocol
buffer message, of which a few fields are read here by the package that onnxruntime brings; onnx would take 20 MB.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.speech.engines.neural.voiced import Frames
from pipeline.errors import NotReady

#: The fields of onnx.proto that are read. Protocol buffers keep all other fields as they are.
ONNX = """
name: "onnx.proto" package: "onnx"
message_type { name: "Model" field { name: "graph" number: 7 label: LABEL_OPTIONAL type_name: "Graph" } }
message_type { name: "Graph"
  field { name: "node" number: 1 label: LABEL_REPEATED type_name: "Node" }
  field { name: "output" number: 12 label: LABEL_REPEATED type_name: "Value" } }
message_type { name: "Node"
  field { name: "input" number: 1 label: LABEL_REPEATED type: TYPE_STRING }
  field { name: "output" number: 2 label: LABEL_REPEATED type: TYPE_STRING }
  field { name: "op_type" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING } }
message_type { name: "Value" field { name: "name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING } }
"""


class Network:
    """The session of an ONNX file, whose bytes have been verified. A call uses one core; threads may call it at once.

    Raises NotReady if it does not load."""

    def __init__(self, path: Path) -> None:
        import onnxruntime
        from google.protobuf.message import DecodeError
        from onnxruntime.capi import onnxruntime_pybind11_state as raised

        options = onnxruntime.SessionOptions()
        # More threads for one sentence gain less than more sentences at once.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it keeps the memory of the longest sentence, and is no quicker
        options.log_severity_level = 3
        try:
            model = path.read_bytes()
            self._durations = find_durations(model)
            if self._durations is not None:
                model = with_outputs(model, self._durations.exact, self._durations.rounded)
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except (
            OSError, DecodeError, raised.Fail, raised.InvalidArgument, raised.InvalidGraph,
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


@cache
def _model() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(ONNX, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx.Model"))


def find_durations(model: bytes) -> Durations | None:
    """Return the durations of a network; None if it has none of a known form.

    Piper (VITS) rounds them up by the one Ceil of its graph; Kokoro and hibari (StyleTTS 2) use Round and then Clip,
    since no phoneme is shorter than a frame."""
    nodes = _model().FromString(model).graph.node
    ceils = [node for node in nodes if node.op_type == "Ceil"]
    if len(ceils) == 1:
        return Durations(ceils[0].input[0], ceils[0].output[0], is_rounded_up=True)
    rounds = {node.output[0]: node.input[0] for node in nodes if node.op_type == "Round"}
    clips = [node for node in nodes if node.op_type == "Clip" and node.input[0] in rounds]
    if len(clips) == 1:
        return Durations(rounds[clips[0].input[0]], clips[0].output[0], is_rounded_up=False)
    return None


def with_outputs(model: bytes, *names: str) -> bytes:
    """Return the model with more of its tensors as outputs, after its own.

    Protocol buffers merge a message that occurs twice, so a graph of outputs alone is appended."""
    outputs = [{"name": name} for name in names]
    return model + bytes(_model()(graph={"output": outputs}).SerializeToString())
