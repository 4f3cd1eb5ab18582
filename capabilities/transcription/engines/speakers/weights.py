"""Weights: tensors of a file that torch wrote before its version 1.6, read without torch.

Such a file holds pickles, and a pickle may call any function. This reader resolves three names alone, those that
tensors need, and refuses everything else."""

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import NotReady

Floats = NDArray[np.float32]

#: The first pickle of such a file.
MAGIC = 0x1950A86A20F9469CFC6C


class _Storage:
    """The numbers of a tensor, which come behind the pickles."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.numbers: Floats = np.zeros(0, np.float32)


class _Tensor:
    """A view of a storage."""

    def __init__(self, storage: _Storage, offset: int, shape: tuple[int, ...], *_: Any) -> None:
        self._storage, self._offset, self._shape = storage, offset, shape

    def read(self) -> Floats:
        """Return the tensor; those of this file are all contiguous."""
        end = self._offset + int(np.prod(self._shape))
        return self._storage.numbers[self._offset : end].reshape(self._shape)


class _Reader(pickle.Unpickler):
    """An unpickler that knows tensors of floats, and nothing else."""

    KNOWN: Mapping[tuple[str, str], Any] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
        ("torch", "FloatStorage"): "float",
    }

    def __init__(self, file: IO[bytes], storages: dict[str, _Storage]) -> None:
        super().__init__(file)
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        """Return the object of a name. Raises UnpicklingError."""
        try:
            return self.KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a tensor") from None

    def persistent_load(self, found: Any) -> _Storage:
        """Return the storage that a tensor names."""
        _, _, key, _, size, _ = found
        return self._storages.setdefault(key, _Storage(size))


def read_tensors(path: Path, within: str) -> Mapping[str, Floats]:
    """Return the tensors of one dictionary of a file, by name. Raises NotReady."""
    try:
        with path.open("rb") as file:
            storages: dict[str, _Storage] = {}
            magic, _, _, content, keys = (_Reader(file, storages).load() for _ in range(5))
            if magic != MAGIC:
                raise pickle.UnpicklingError("it is not a file of torch")
            for key in keys:
                storage = storages[key]
                if int.from_bytes(file.read(8), "little") != storage.size:
                    raise pickle.UnpicklingError("a tensor has another size than it should")
                storage.numbers = np.frombuffer(file.read(4 * storage.size), "<f4")
            return {name: found.read() for name, found in content[within].items()}
    except (OSError, EOFError, ValueError, KeyError, AttributeError, pickle.UnpicklingError) as error:
        raise NotReady(f"The weights {path.name} can't be read: {error}.") from error
