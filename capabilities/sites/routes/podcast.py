"""Podcast: a site's spoken posts as RSS, the files of each episode, and the script of the player."""

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from api.http.address import base_url
from api.http.ranges import send_artifacts
from api.services.resource import Resource
from api.services.services import Services
from api.work.files import HEADERS, SHOWN
from capabilities.sites import feeds
from capabilities.sites.feeds import AUDIO, Episode, Feed
from capabilities.sites.sites import Site, find_site
from pipeline.storage.artifacts import episode_key
from pipeline.subtitles.segments import Segment
from pipeline.subtitles.subtitles import vtt

FEEDS = "/feeds"
TRANSCRIPT, CHAPTERS = "transcript.vtt", "chapters.json"
#: The type of chapters (podcast namespace, chapters).
CHAPTERS_TYPE = "application/json+chapters"
SCRIPT = (Path(__file__).parent / "player.js").read_bytes()
#: Seconds that a feed, and what may change of an episode, stays in caches.
FRESH_SECONDS = 300


def address_of(services: Services, req: falcon.asgi.Request) -> str:
    """Return the address of this service, as the outside knows it."""
    return (services.settings.api.public_url or base_url(req, services.proxies)).rstrip("/")


class FeedDocument(Resource):
    """GET /feeds/{token}.xml."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, token: str) -> None:
        """Answer with the podcast."""
        database = self._services.database
        feed = await database.run(feeds.find_feed(token))
        site = None if feed is None else await database.run(find_site(feed.site_id))
        if feed is None or site is None:
            raise falcon.HTTPNotFound(description="There is no such feed, or its address was changed.")
        episodes = await database.run(feeds.list_episodes(feed.site_id))
        text = write_rss(address_of(self._services, req), site, feed, episodes)
        _show(req, resp, text.encode(), "application/rss+xml; charset=utf-8")


class EpisodeFile(Resource):
    """GET /episodes/{episode_id}/{name}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, episode_id: str, name: str) -> None:
        """Answer with the audio or a part of it, the cover, the transcript or the chapters."""
        episode = await self._find(episode_id)
        if name == TRANSCRIPT:
            heard = episode.proposed.get("sentences") or ()
            cues = [Segment(start=start, end=end, text=text) for start, end, text in heard]
            _show(req, resp, vtt(cues).encode(), SHOWN[".vtt"])
        elif name == CHAPTERS:
            _show(req, resp, chapters_document(episode).encode(), CHAPTERS_TYPE)
        elif name in (AUDIO, episode.cover):
            key, etag = episode_key(episode.id, name), _etag(f"{episode.id}/{name}".encode())
            if req.method == "HEAD":
                resp.content_length = await self._services.artifacts.size(key)
                resp.set_header("Accept-Ranges", "bytes")
            else:
                await send_artifacts(req, resp, self._services.artifacts, [key], etag=etag)
            resp.content_type = SHOWN[f".{name.rpartition('.')[2]}"]
            resp.set_headers(HEADERS)
        else:
            raise falcon.HTTPNotFound

    async def _find(self, episode_id: str) -> Episode:
        try:
            found = await self._services.database.run(feeds.find_episode(UUID(episode_id)))
        except ValueError:
            found = None
        if found is None:
            raise falcon.HTTPNotFound(description="There is no such episode any more.")
        return found


class Player(Resource):
    """GET /player.js."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the script."""
        _show(req, resp, SCRIPT, "text/javascript; charset=utf-8")


def _show(req: falcon.asgi.Request, resp: falcon.asgi.Response, content: bytes, content_type: str) -> None:
    """Answer with what any page may read, unless the client has it already."""
    etag = _etag(content)
    resp.etag = etag
    resp.cache_control = [f"public, max-age={FRESH_SECONDS}"]
    resp.set_headers({"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"})
    resp.content_type = content_type
    if etag in (req.if_none_match or ()):
        resp.status = falcon.HTTP_304
    else:
        resp.data = content


def _etag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


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
