"""A process that reads a spreadsheet and writes each row to standard output as a line of JSON.

A file of 5 kB can claim 17 billion cells. The library allocates them at once, and ends the process if that fails. So it
runs here, with limits, and imports nothing of ours."""

import json
import resource
import sys
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

#: A million rows of ten texts take half of it, and a minute at most.
MAX_ADDRESS_BYTES = 2 * 2**30
MAX_SECONDS = 120
#: Exit status if the library refuses the file; the reason is on standard error.
BROKEN = 3


def main(file: str) -> int:
    """Write the rows of the first sheet, each with its number from 1 and its cells."""
    _confine()
    try:
        with CalamineWorkbook.from_path(file) as workbook:
            sheet = workbook.get_sheet_by_index(0)
            first = sheet.start[0] + 1 if sheet.start else 1
            rows = sheet.to_python(skip_empty_area=True)
    except (CalamineError, IndexError) as error:
        sys.stderr.write(str(error))
        return BROKEN
    with suppress(BrokenPipeError):  # the reader has seen enough
        for number, row in enumerate(rows, first):
            sys.stdout.write(json.dumps([number, [_text(cell) for cell in row]]) + "\n")
        sys.stdout.flush()
    return 0


def _confine() -> None:
    limits = {resource.RLIMIT_AS: MAX_ADDRESS_BYTES, resource.RLIMIT_CPU: MAX_SECONDS, resource.RLIMIT_CORE: 0}
    for limit, value in limits.items():
        with suppress(ValueError, OSError):  # not every system has these limits
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
