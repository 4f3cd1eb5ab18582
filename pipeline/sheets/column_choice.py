"""Column choice: finds the column to read by its name, or else by its cells."""

import re
from collections.abc import Callable, Sequence

#: Rows to look at.
ROWS = 50


def plain_name(name: str) -> str:
    """Return a column's name for comparison: `Page URL`, `page-url` and `page_url` are equal."""
    return "_".join(re.findall(r"\w+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower().replace("_", " ")))


def choose(names: Sequence[str], header: Sequence[str]) -> int | None:
    """Return the column with the first of the names, else one that begins or ends with a name, else None.

    `names` are as `plain_name` returns them."""
    plain = [plain_name(name) for name in header]
    for name in names:
        if name in plain:
            return plain.index(name)
    for name in names:
        for place, title in enumerate(plain):
            # A title of many words may have any word in it.
            words = title.split("_")
            if len(words) <= 3 and name in (words[-1], words[0]):
                return place
    return None


def fullest(rows: Sequence[Sequence[str]], is_wanted: Callable[[str], bool]) -> int | None:
    """Return the first column with the most wanted cells, if half of the rows have one."""
    width = max(map(len, rows), default=0)
    counts = [sum(is_wanted(row[place]) for row in rows if place < len(row)) for place in range(width)]
    best = max(counts, default=0)
    return counts.index(best) if best and 2 * best >= len(rows) else None
