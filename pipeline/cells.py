"""Cells: texts as cells of a CSV file that a spreadsheet will open."""

#: What makes a spreadsheet take a cell for a formula, and its full-width forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def defused(text: str) -> str:
    """Return a text that no spreadsheet carries out."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
