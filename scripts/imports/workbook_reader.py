"""A process of its own that reads a spreadsheet: its rows go to standard output, a line of JSON each.

A file of 5 kB can claim 17 billion cells, for which the library takes memory before it has looked at one, and ends the
process when it gets none. So it has limits, and is not the process that imports. It imports nothing of ours."""

import json
import resource
import sys
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

#: A sheet of a million rows and ten columns of texts takes about half of it, and a minute at most.
MAX_ADDRESS_BYTES = 2 * 2**30
MAX_SECONDS = 300
#: Exit status for a file that the library refuses; its reason is on standard error.
BROKEN = 3


def main(file: str) -> int:
    """Write the rows of the first sheet, each as its number from 1 and its cells."""
    _confine()
    try:
        with CalamineWorkbook.from_path(file) as workbook:
            sheet = workbook.get_sheet_by_index(0)
            first = sheet.start[0] + 1 if sheet.start else 1
            rows = sheet.to_python(skip_empty_area=True)
    except (CalamineError, IndexError) as error:
        sys.stderr.write(str(error))
        return BROKEN
    with suppress(BrokenPipeError):  # who reads has seen enough
        for number, row in enumerate(rows, first):
            sys.stdout.write(json.dumps([number, [_text(cell) for cell in row]]) + "\n")
        sys.stdout.flush()
    return 0


def _confine() -> None:
    limits = {resource.RLIMIT_AS: MAX_ADDRESS_BYTES, resource.RLIMIT_CPU: MAX_SECONDS, resource.RLIMIT_CORE: 0}
    for limit, value in limits.items():
        with suppress(ValueError, OSError):  # where a system has no such limit
            resource.setrlimit(limit, (value, value))


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    return str(cell).lower() if isinstance(cell, bool) else "" if isinstance(cell, timedelta) else str(cell)


if __name__ == "__main__":
    status = main(sys.argv[1])
    # A pipe that nobody reads must not be written to when Python ends.
    with suppress(BrokenPipeError):
        sys.stdout.close()
    sys.exit(status)
