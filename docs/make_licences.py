"""Write the catalogue's models into docs/licences.md: `.venv/bin/python docs/make_licences.py`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- models: made by docs/make_licences.py -->\n", "<!-- end of models -->\n"


def make_table() -> str:
    """Return the table of models by origin and licence."""
    from workers.models.catalogue import read_catalogue

    rows: dict[tuple[str, str], list[str]] = {}
    for model in read_catalogue().values():
        origin = model.origin.removeprefix("Piper (rhasspy/piper-voices); ")
        origin = origin.replace("; trained from the voice lessac", " †")
        rows.setdefault((origin, model.licence), []).append(f"`{model.name}`")
    lines = [f"| {', '.join(names)} | {origin} | {licence} |" for (origin, licence), names in rows.items()]
    return "\n".join(["| model | made by | licence |", "|---|---|---|", *lines, ""])


def with_table(page: str) -> str:
    """Return the page with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{make_table()}\n{END}{after}"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
