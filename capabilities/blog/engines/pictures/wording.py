"""Wording: what a picture shows, said in its post's language."""

import json
from pathlib import Path
from typing import Any

_WORDS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

#: What quotes within quotes are, by the signs outside.
INNER = {
    "“": str.maketrans("“”", "‘’"),
    "„": str.maketrans("„“", "‚‘"),
    "«": str.maketrans("«»", "“”"),
    "「": str.maketrans("「」", "『』"),
    "《": str.maketrans("《》", "〈〉"),
}

#: Longer titles are shortened in a description: screen readers read them out in front of each post.
LONGEST_TITLE = 150


def generated(language: str, style: str, title: str) -> str:
    """Return the description of a picture by a model: what it was made for, since nobody has looked at it."""
    return with_title(words_of(language)["generated"][style], title)


def with_title(template: str, title: str) -> str:
    """Return a template with a title in it, whose own quotes become those that stand within others."""
    short = " ".join(title.split())
    if len(short) > LONGEST_TITLE:
        short = short[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:-–—") + "…"
    opening = template[: template.index("{title}")].rstrip()[-1]
    return template.replace("{title}", short.translate(INNER.get(opening, {})))


def words_of(language: str) -> Any:
    """Return a language's words, or English ones."""
    return _WORDS.get(language.lower().split("-")[0], _WORDS["en"])
