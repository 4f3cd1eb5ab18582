"""Column choice: which column of a file an import reads, by its name, or else by what stands in it."""

import re
from collections.abc import Callable, Sequence

#: Rows that are looked at.
ROWS = 50


def plain_name(name: str) -> str:
    """Return a column's name as it is compared: `Page URL`, `page-url` and `page_url` are the same."""
    return "_".join(re.findall(r"\w+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower().replace("_", " ")))


def choose(names: Sequence[str], header: Sequence[str]) -> int | None:
    """Return which column has one of the names, the first of them first; else one whose name ends or begins with one.

    `names` are as `plain_name` returns them. None: no column is called anything like that."""
    plain = [plain_name(name) for name in header]
    for name in names:
        if name in plain:
            return plain.index(name)
    for name in names:
        for place, title in enumerate(plain):
            # A title of many words is a sentence, which may have any word in it.
            words = title.split("_")
            if len(words) <= 3 and name in (words[-1], words[0]):
                return place
    return None


def fullest(rows: Sequence[Sequence[str]], is_wanted: Callable[[str], bool]) -> int | None:
    """Return the column that has most of what is wanted, if it is in half of the rows; the first of equals."""
    width = max(map(len, rows), default=0)
    counts = [sum(is_wanted(row[place]) for row in rows if place < len(row)) for place in range(width)]
    best = max(counts, default=0)
    return counts.index(best) if best and 2 * best >= len(rows) else None
