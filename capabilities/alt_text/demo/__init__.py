"""The demo of alt text: a banner and a photo to describe, and their descriptions.

The photo is scikit-image's `coffee`, by Rachel Michetti, dedicated to the public (CC0)."""

from pathlib import Path

from capabilities.alt_text.kinds.alt_text import AltText
from capabilities.alt_text.kinds.batch import AltTextBatch
from capabilities.alt_text.kinds.fields import EXAMPLE_PHOTO, EXAMPLE_URL
from scripts.demo.steps import Answered

PICTURES = Path(__file__).parent / "pictures"
SERVED = {EXAMPLE_URL: PICTURES / "banner.png", EXAMPLE_PHOTO: PICTURES / "coffee.jpg"}


async def _show(answered: Answered) -> str | None:
    """Return the alt texts of an answer, and what would bring better ones than its drafts."""
    results = answered.document.get("results", [answered.document])
    texts = [f"{one['alt_text']}{' (draft)' if one.get('draft') else ''}" for one in results if one.get("alt_text")]
    advice = next((one["advice"] for one in results if one.get("advice")), "")
    return " / ".join(filter(None, [*texts, advice])) or None


SHOWN = {AltText.name: _show, AltTextBatch.name: _show}
