"""Network: a speech network in an ONNX file. A call uses one core; several threads may call it at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capabilities.speech.engines.neural.graph import find_durations, with_outputs
from capabilities.speech.engines.neural.voiced import Frames
from pipeline.errors import NotReady


class Network:
    """The session of an ONNX file, whose bytes have been verified. Raises NotReady if it does not load."""

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
