"""Kept log: a file with all lines of a system whose terminal shows only some."""

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

NAME = "up.log"
#: A larger file replaces its predecessor, and a new one begins.
MAX_BYTES = 20 * 2**20


class KeptLog:
    """Appends lines to DATA/up.log; DATA/up.log.1 is its predecessor."""

    def __init__(self, data: Path) -> None:
        self.path = data / NAME
        self._file: BinaryIO | None = None
        self._size = 0

    def write(self, lines: bytes) -> None:
        """Write whole lines. A full disk stops nothing; the lines are lost."""
        with suppress(OSError):
            if self._file is None or self._size + len(lines) > MAX_BYTES:
                self._begin()
            if self._file is not None:
                self._file.write(lines)
                self._size += len(lines)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _begin(self) -> None:
        self.close()
        self._file = None
        if self.path.exists():
            self.path.replace(self.path.with_name(f"{NAME}.1"))
        self._file = self.path.open("wb", buffering=0)
        self.path.chmod(0o600)
        self._size = 0
