"""CSV cells: texts escaped so that no spreadsheet runs them as formulas."""

import re

#: Beginnings that make a spreadsheet read a cell as a formula, with their full-width forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def defused(text: str) -> str:
    """Return a text, escaped where a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


#: Numbers, phone numbers and dashes: run as a formula, they would be a number at most.
HARMLESS = re.compile(r"[+-][0-9 .,()/-]*%?")


def kept(text: str) -> str:
    """Return a cell of a user's own file: the same for numbers, which others may read, and otherwise defused."""
    return text if HARMLESS.fullmatch(text) else defused(text)
