"""Copy out/security.md, the figures of `make security`, into docs/security.md; `make security` runs this."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "out" / "security.md"
PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures: made by make security -->\n", "<!-- end of figures -->\n"


def with_figures(page: str, figures: str) -> str:
    """Return the page with a report's figures."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{PAGE.name} has no place for figures, between {BEGIN.strip()} and {END.strip()}.")
    return f"{before}{BEGIN}\n{figures}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_figures(PAGE.read_text("utf-8"), REPORT.read_text("utf-8")), "utf-8")
