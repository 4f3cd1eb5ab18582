"""Directives: what a page says to crawlers, in elements and headers."""

import re
from collections.abc import Iterable, Iterator

from capabilities.index_check.results.raw_result import RobotsDirective

#: All crawlers, and those whose indexes are asked about. Others, such as googlebot-news, have no part in them.
ALL = "robots"
AGENTS = frozenset((ALL, "googlebot", "bingbot", "msnbot"))
#: Words that keep a page out of an index; `none` is noindex and nofollow.
FORBIDDING = frozenset(("noindex", "none"))
#: Directives that have a value behind a colon, and so are no names of crawlers.
VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
NAMED = re.compile(r"\s*([\w-]+)\s*:(.*)", re.DOTALL)
#: What a row can't keep.
UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_SHOWN = 2_048


def storable(text: str) -> str:
    """Return a text from a page or a header as a row can keep it."""
    return UNSTORABLE.sub("", text)[:MAX_SHOWN].strip()


def forbidding_headers(values: Iterable[str]) -> Iterator[RobotsDirective]:
    """Yield what headers X-Robots-Tag say against an index, each with the crawler that it is for."""
    for value in values:
        agent = ALL
        for part in value.split(","):
            named = NAMED.fullmatch(part)
            if named and named[1].lower() not in VALUED:
                # It holds for what follows, also where a proxy has made one header of several.
                agent, part = named[1].lower(), named[2]
            if agent in AGENTS and part.strip().lower() in FORBIDDING:
                yield RobotsDirective(source="header", agent=agent, content=storable(part).lower())


def forbidding_elements(metas: Iterable[tuple[str, str]]) -> Iterator[RobotsDirective]:
    """Yield what elements `meta`, as names and contents, say against an index."""
    for name, content in metas:
        agent = name.strip().lower()
        words = {word.strip().lower() for word in content.split(",")}
        if agent in AGENTS and words & FORBIDDING:
            yield RobotsDirective(source="meta", agent=agent, content=storable(content))
