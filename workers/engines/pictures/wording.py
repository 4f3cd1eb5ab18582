"""Wording: what a picture shows, said in its post's language."""

import json
from functools import cache
from pathlib import Path
from typing import Any

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


def described(
    language: str,
    style: str,
    design: str,
    motif: str,
    colours: tuple[str, ...],
    *,
    is_night: bool,
    title: str,
    set_: bool,
) -> str:
    """Return the description of a drawn cover; `set_`: its title stands on it."""
    words = _words(language)
    what = words["designs"][design].format(motif=words["motifs"][motif], sun=words["moon" if is_night else "sun"])
    first, second, third = (words["colours"][name] for name in colours)
    picture = words["drawn"][style].format(what=what)
    picture = words["in_colours"].format(picture=picture, first=first, second=second, third=third)
    return _with_title(words["titled" if set_ else "untitled"].replace("{picture}", "\0"), title).replace("\0", picture)


def generated(language: str, style: str, title: str) -> str:
    """Return the description of a picture that a model made: what it was made for, since nobody has looked at it."""
    return _with_title(_words(language)["generated"][style], title)


def _with_title(template: str, title: str) -> str:
    short = " ".join(title.split())
    if len(short) > LONGEST_TITLE:
        short = short[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:-–—") + "…"
    opening = template[: template.index("{title}")].rstrip()[-1]
    return template.replace("{title}", short.translate(INNER.get(opening, {})))


def _words(language: str) -> Any:
    """Return a language's words, or English ones."""
    known = _wording()
    return known.get(language.lower().split("-")[0], known["en"])


@cache
def _wording() -> Any:
    return json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
