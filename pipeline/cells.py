"""CSV cells: texts escaped so that no spreadsheet runs them as formulas."""

#: What makes a spreadsheet take a cell for a formula, and its full-width forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def defused(text: str) -> str:
    """Return a text, escaped where a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
