"""Proposals as a person reads and edits them: a line of text, whatever the field."""

from typing import Any


def shown(proposed: Any) -> str:
    """Return a proposal as one line: a text, names with commas, or a cover's or an audio's description."""
    match proposed:
        case None:
            return ""
        case list():
            return ", ".join(map(str, proposed))
        case dict():
            return str(proposed.get("alt_text") or f"{proposed.get('seconds')} s, {proposed.get('voice')}")
    return str(proposed)


def edited(text: str, before: Any, field: str) -> Any:
    """Return what a person has made of a proposal that `shown` has shown; None: nothing is to be written."""
    if not text or (before is None and field in ("cover", "audio")):
        return None
    if field in ("tags", "categories"):
        return [name for part in text.split(",") if (name := part.strip())]
    if isinstance(before, dict):
        return {**before, "alt_text": text} if "alt_text" in before else before
    return text
