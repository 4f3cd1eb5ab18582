"""Workbook: the cells of a spreadsheet's first sheet (xlsx, xls, xlsb, ods) as texts."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import InvalidRequest
from pipeline.sheets import workbook_reader

#: First bytes of zip archives, such as xlsx and ods, and of old xls files.
BEGINNINGS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def is_workbook(file: Path) -> bool:
    """Return whether a file is a spreadsheet, by its first bytes."""
    with file.open("rb") as opened:
        return opened.read(4) in BEGINNINGS


def cells_of(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first sheet, numbered from 1. Raises InvalidRequest.

    A process with limited memory reads it."""
    command = [sys.executable, "-P", workbook_reader.__file__, str(file)]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said) as reader,
    ):
        try:
            for line in reader.stdout or ():
                number, cells = json.loads(line)
                yield number, cells
            if reader.wait() != 0:
                said.seek(0)
                raise InvalidRequest(_refusal(file, reader.returncode, said.read(500).decode(errors="replace")))
        finally:
            reader.kill()


def _refusal(file: Path, status: int, said: str) -> str:
    if status == workbook_reader.BROKEN:
        return f"{file} can't be read as a spreadsheet: {said.strip()}. Save it as CSV."
    most = workbook_reader.MAX_ADDRESS_BYTES // 2**30
    return f"{file} takes more than {most} GiB, or {workbook_reader.MAX_SECONDS} s, to be read. Save it as CSV."
