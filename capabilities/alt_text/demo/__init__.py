"""The demo of alt text: a picture to describe, and its description."""

from pathlib import Path

from capabilities.alt_text.kinds.alt_text import AltText
from capabilities.alt_text.kinds.batch import AltTextBatch
from capabilities.alt_text.kinds.fields import EXAMPLE_URL
from scripts.demo.steps import Answered

SERVED = {EXAMPLE_URL: Path(__file__).parent / "pictures" / "banner.png"}


async def _show(answered: Answered) -> str | None:
    """Return the first alt text of an answer, if it has one."""
    results = answered.document.get("results", [answered.document])
    return results[0].get("alt_text") if results else None


SHOWN = {AltText.name: _show, AltTextBatch.name: _show}
