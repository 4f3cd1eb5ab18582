"""RSS: a podcast as RSS 2.0, with the tags of iTunes and of the podcast namespace (podcastindex.org/namespace/1.0)."""

import json
import re
from collections.abc import Sequence
from datetime import UTC
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from capabilities.sites.feeds import Episode, Feed
from capabilities.sites.sites import Site

#: Characters that XML 1.0 has no place for (section 2.2).
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
VERSION = "1.2.0"


def write_rss(address: str, site: Site, feed: Feed, episodes: Sequence[Episode]) -> str:
    """Return the document; `address` is that of this service, without a slash at the end."""
    return _template().render(address=address, site=site, facts=site.known, feed=feed, episodes=episodes)


def chapters_document(episode: Episode) -> str:
    """Return the chapters as JSON (podcast namespace, JSON chapters 1.2.0)."""
    chapters = [{"startTime": start, "title": title} for start, title in episode.chapters()]
    language = episode.proposed.get("language")
    return json.dumps({"version": VERSION, "title": episode.title, "language": language, "chapters": chapters})


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["date"] = lambda at: format_datetime(at.astimezone(UTC), usegmt=True)
    return environment.get_template("feed.xml")


def _printable(value: Any) -> Any:
    return NO_XML.sub("", value) if isinstance(value, str) else value
