"""Feeding: audio that was written to posts is copied for their site's podcast, and deleted when that ends."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID

from capabilities.sites import feeds
from capabilities.sites.connectors.connector import SitePost
from capabilities.sites.connectors.exchange import USER_AGENT
from capabilities.sites.feeds import AUDIO, Episode
from capabilities.sites.sites import find_site, open_site
from capabilities.sites.working.finding import publication_of
from pipeline.database import Database
from pipeline.downloads.web import Unfetched, Web
from pipeline.errors import Gone, PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, episode_key, open_store

log = get_logger(__name__)

#: Largest audio that is read back from a site, and the longest time: an hour at 192 kbit/s. All others wait meanwhile.
MOST_BYTES = 90_000_000
MOST_SECONDS = 60.0
#: Pause between two looks for drafts that were published, and for posts that were withdrawn.
LOOK_EVERY = timedelta(minutes=2)
FOLLOW_EVERY = timedelta(minutes=15)
#: Pause between two looks for files that no episode has any more.
TIDY_EVERY = timedelta(hours=1)


class SiteFeeds:
    """Keeps the files of episodes in step with what stands on sites."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tidy_at = self._look_at = self._follow_at = 0.0

    @cached_property
    def _artifacts(self) -> Artifacts:
        return Artifacts(open_store(self._settings))

    def work(self, database: Database) -> int:
        """Copy new audio, and delete what has ended; returns of how many episodes."""
        done = 0
        if (now := time.monotonic()) >= self._look_at:
            self._look_at = now + LOOK_EVERY.total_seconds()
            if is_full := now >= self._follow_at:
                self._follow_at = now + FOLLOW_EVERY.total_seconds()
            for site_id, spoken in database.run(feeds.spoken_posts()).items():
                if is_full or None in spoken.values():
                    asyncio.run(self._follow(database, site_id, spoken))
        while (episode := database.run(feeds.claim_episode())) is not None:
            done += self._copy(database, episode)
        for episode in database.run(feeds.list_without_cover()):
            database.run(feeds.note_copied(episode.id, cover=self._copy_cover(episode)))
        for ended in database.run(feeds.forget_ended()):
            self._artifacts.delete_episode(str(ended))
            done += 1
        if time.monotonic() >= self._tidy_at:
            self._tidy_at = time.monotonic() + TIDY_EVERY.total_seconds()
            # Copies of removed sites and killed sweeps. Folders first: an episode's row is older than its files.
            found = self._artifacts.episodes()
            known = database.run(feeds.known_episodes())
            for orphan in found - known:
                self._artifacts.delete_episode(orphan)
        return done

    def _copy(self, database: Database, episode: Episode) -> int:
        try:
            audio = self._audio(episode)
        except Unfetched as error:
            log.warning("episode not copied, tried again later", episode=str(episode.id), error=error.message)
            return 0
        self._artifacts.put(episode_key(episode.id, AUDIO), audio)
        return int(database.run(feeds.note_copied(episode.id, audio_bytes=len(audio))))

    async def _follow(self, database: Database, site_id: UUID, spoken: Mapping[str, str | None]) -> None:
        """Let spoken drafts into the feed that were published since, and posts out of it that were withdrawn.

        Those are among a site's newest posts; an older one stays until its run is undone."""
        site = database.run(find_site(site_id))
        if site is None:
            return
        try:
            async with open_site(site, self._settings) as opened:
                posts = await anext(opened.list_posts())
                gone = [one for one in _missing(spoken, posts) if await opened.read(one) is None]
        except PressroomError as error:
            log.warning("podcast not followed, tried again later", site=str(site_id), code=error.code)
            return
        for target in gone:
            database.run(feeds.note_publication(site_id, target, {"is_public": False}))
        for post in posts:
            if post.target in spoken and post.is_public != (spoken[post.target] is not None):
                about = {"page": post.title, "page_url": post.url, **publication_of(post)}
                database.run(feeds.note_publication(site_id, post.target, about))

    def _audio(self, episode: Episode) -> bytes:
        """Return the audio as it was made, or, where that has expired, as it stands on the site."""
        try:
            return self._artifacts.get(episode.proposed["artifact"])
        except Gone:
            return asyncio.run(self._from_site(episode.written.get("url") or ""))

    async def _from_site(self, url: str) -> bytes:
        opening = Web(self._settings.fetch, user_agent=USER_AGENT, per_host=1, accept="audio/*")
        try:
            async with asyncio.timeout(MOST_SECONDS), opening as web, web.open(url) as opened:
                if opened.status != 200:
                    raise Unfetched("unreachable", f"{url} answers with HTTP {opened.status}.")
                sent = opened.headers.get("Content-Type", "")
                if not sent.startswith("audio/"):  # such as a page to sign in
                    raise Unfetched("unreachable", f"{url} answers with {sent or 'no type'}, not with audio.")
                audio = await opened.read(MOST_BYTES + 1)
        except TimeoutError:
            raise Unfetched("unreachable", f"{url} takes longer than {MOST_SECONDS:g} s.") from None
        if len(audio) > MOST_BYTES:
            raise Unfetched("unreachable", f"{url} has more than {MOST_BYTES:,} bytes.")
        return audio

    def _copy_cover(self, episode: Episode) -> str:
        """Return the name of the picture's file; empty where it has expired."""
        made = episode.cover_made or {}
        name = f"cover.{made.get('content_type', 'image/jpeg').rpartition('/')[2].replace('jpeg', 'jpg')}"
        try:
            self._artifacts.put(episode_key(episode.id, name), self._artifacts.get(made["artifact"]))
        except Gone:
            return ""
        return name


def _missing(spoken: Mapping[str, str | None], posts: Sequence[SitePost]) -> list[str]:
    """Return the posts that would stand among a site's newest, and do not; trashed ones are listed no more."""
    listed = {one.target for one in posts}
    oldest = min((one.published_at for one in posts if one.published_at), default=None)
    if oldest is None:
        return []
    return [one for one, at in spoken.items() if at and one not in listed and datetime.fromisoformat(at) >= oldest]
