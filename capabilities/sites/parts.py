"""Parts: what posts may be given, and what a watch gives to new ones."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from capabilities.sites.connectors.connector import Ability
from capabilities.sites.sites import Site
from pipeline.errors import InvalidRequest

#: Least confidence of what is written without a person.
AT_LEAST = 0.7


class Part(StrEnum):
    """The parts of posts, in the order in which they are made."""

    EXCERPT = "excerpt"
    TAGS = "tags"
    CATEGORIES = "categories"
    COVER = "cover"
    AUDIO = "audio"


#: The ability of a site that each part needs.
NEEDED: Mapping[str, Ability] = {
    "excerpt": "excerpt",
    "tags": "tags",
    "categories": "categories",
    "cover": "cover",
    "audio": "content",
}


def check_parts(site: Site, parts: Sequence[str], *, alt_text: bool = False) -> list[str]:
    """Return parts of posts that a site can be given. Raises InvalidRequest."""
    needed = [*(NEEDED.get(one, one) for one in parts), *(["alt_text"] if alt_text else [])]
    if lacking := [one for one in needed if one not in site.known.abilities]:
        names = ", ".join(lacking)
        raise InvalidRequest(
            f"Pressroom can't change {names} on {site.name}: the site has none, or its user lacks the right."
            " `pressroom site list` shows what it can change."
        )
    return [one for one in Part if one in parts]


def watch_options(
    site: Site, parts: Sequence[str], *, alt_text: bool, index: bool, at_least: float = AT_LEAST
) -> dict[str, Any]:
    """Return the options of a watch for new posts. Raises InvalidRequest."""
    chosen = check_parts(site, parts, alt_text=alt_text)
    if not (chosen or alt_text or index):
        raise InvalidRequest("Choose at least one thing for new posts: a part, alt texts, or search engines.")
    return {"parts": chosen, "alt_text": alt_text, "index": index, "at_least": at_least}


def shown(proposed: Any) -> str:
    """Return a proposal as one line: a text, names with commas, or a description of a cover, an audio or texts."""
    match proposed:
        case None:
            return ""
        case list():
            return ", ".join(map(str, proposed))
        case {"alt_text": text}:
            return str(text)
        case {"seconds": seconds}:
            return f"{seconds} s, {proposed.get('voice')}"
        case dict():
            return "Alt texts of its pictures"
    return str(proposed)


def edited(text: str, before: Any, field: str) -> Any:
    """Return a proposal of `shown` as a person has edited it; None: nothing is to be written."""
    if not text or (before is None and field in ("cover", "audio")):
        return None
    if field in ("tags", "categories"):
        return [name for part in text.split(",") if (name := part.strip())]
    if isinstance(before, dict):
        return {**before, "alt_text": text} if "alt_text" in before else before
    return text
