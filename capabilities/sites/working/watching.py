"""Watching: posts that are new on a site get what the owner chose, and are then told to search engines and checked.

The site's list of posts is read again and again: WordPress has no webhooks of its own."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import DataError

from capabilities.index_check.kinds.index_check import IndexCheck, IndexSubmit
from capabilities.index_check.monitors.monitor import add_monitor
from capabilities.index_check.requests.request import IndexCheckRequest
from capabilities.index_check.settings import IndexLimits, SubmissionSettings
from capabilities.sites import runs
from capabilities.sites.connectors.connector import SitePost
from capabilities.sites.posts import WatchedPost, add_posts, end_post, list_posts
from capabilities.sites.runs import Task
from capabilities.sites.sites import Site, claim_watched, note_watched, open_site
from models.sites import OPEN, WORKING
from pipeline.accounts.keys import Caller
from pipeline.database import Database, Transaction
from pipeline.errors import PressroomError
from pipeline.identifiers import uuid7
from pipeline.jobs.on_behalf import paying_key, raise_refusal, submission_of
from pipeline.lifecycle import submit
from pipeline.log import get_logger
from pipeline.settings import Settings

log = get_logger(__name__)

#: Posts that are remembered at least, as more than one part of a list has.
MOST_SEEN = 500
#: Sites that are looked at together, so that a slow one holds up no other; a list may have 40 MB.
AT_ONCE = 4


class SiteWatch:
    """Looks at watched sites that are due."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def work(self, database: Database) -> int:
        """Look at the sites that are due, a few at once; returns how many."""
        return asyncio.run(self._work(database))

    async def _work(self, database: Database) -> int:
        looked, busy, fault = 0, dict[UUID, asyncio.Task[None]](), None
        while True:
            while fault is None and len(busy) < AT_ONCE and (site := database.run(claim_watched(busy))) is not None:
                busy[site.id] = asyncio.create_task(self._watch(database, site))
                looked += 1
            if not busy:
                break
            # While a site takes its time, others become due.
            done, _ = await asyncio.wait(busy.values(), timeout=1, return_when=asyncio.FIRST_COMPLETED)
            busy = {number: task for number, task in busy.items() if task not in done}
            for task in done:
                fault = task.exception() or fault
        if fault is not None:
            raise fault
        return looked

    async def _watch(self, database: Database, site: Site) -> None:
        try:
            watched = await self._look(database, site)
        except PressroomError as error:
            log.warning("site not watched", site=str(site.id), code=error.code)
            watched = {**(site.watched or {}), "note": error.message}
        except DataError as error:
            log.exception("site not watched", site=str(site.id))
            watched = {**(site.watched or {}), "note": f"The site's texts can't be stored: {str(error)[:200]}"}
        if watched != site.watched:
            database.run(note_watched(site, watched))

    async def _look(self, database: Database, site: Site) -> Mapping[str, Any]:
        """Return how far the watch has come."""
        async with open_site(site, self._settings) as opened:
            posts = [one for one in await anext(opened.list_posts(), []) if one.is_published]
        known = site.watched or {}
        seen = dict.fromkeys(known.get("seen") or ())
        since = known["since"] if "since" in known else _oldest(posts)
        waits = False
        if known.get("seen") is not None:  # else: posts from before the watch are left alone
            new = [one for one in posts if one.target not in seen and _is_since(one, since)]
            begun = self._begin(database, site, new) if new else []
            if begun is None:
                waits = True
            else:
                database.run(add_posts(site.id, new, begun))
        for post in database.run(list_posts(site.id, is_open=True, limit=MOST_SEEN)):
            if self._has_ended(database, post):
                try:
                    self._end(database, site, post)
                except PressroomError as error:  # all posts count as seen, or they would be paid for again
                    log.warning("post not told of", site=str(site.id), url=post.url, code=error.code)
        if waits:
            return {**known, "note": "New posts wait until the open run has ended, and you have reviewed it."}
        targets = list(dict.fromkeys([*(one.target for one in posts), *seen]))
        # Never fewer than before: a list that is short for once would make all its posts new.
        return {"seen": targets[: max(MOST_SEEN, len(posts), len(seen))], "since": since}

    def _begin(self, database: Database, site: Site, posts: Sequence[SitePost]) -> list[UUID] | None:
        """Begin the runs of new posts; None: a person's run is open, and goes first."""
        chosen, targets = dict(site.watch or {}), [one.target for one in posts]
        wanted: dict[Task, Any] = {"alt_text": chosen.get("alt_text"), "posts": chosen["parts"]}
        tasks = [task for task, is_wanted in wanted.items() if is_wanted]
        listed = database.run(runs.list_runs(site.id, states=OPEN))
        open_runs = {one.task: one for one in listed if one.task in tasks}
        if any(not one.options.get("watch") or one.state in WORKING for one in open_runs.values()):
            return None
        options = {"watch": True, "at_least": chosen["at_least"], "parts": chosen["parts"]}
        begun = []
        for task in tasks:
            before = list(open_runs[task].options.get("posts") or ()) if task in open_runs else []
            run, _ = database.run(runs.start_run(site.id, task, {**options, "posts": [*before, *targets]}))
            if task in open_runs and not database.run(runs.move(run.id, of=["review"], to="finding")):
                return None
            begun.append(run.id)
        return begun

    def _has_ended(self, database: Database, post: WatchedPost) -> bool:
        """Return whether nothing will be written to a post any more without a person."""
        found = [database.run(runs.read_run(UUID(one))) for one in post.runs]
        return all(run is None or run.fault is not None or run.state not in WORKING for run in found)

    def _end(self, database: Database, site: Site, post: WatchedPost) -> None:
        """Tell search engines of a post where the operator allows it, and check daily until it is found.

        The job, the monitor and their note commit together: however often a sweep is killed, a post has one of each."""
        key = database.run(paying_key(site.account_id))
        with database.transaction() as transaction:
            submission = monitor = None
            if (site.watch or {}).get("index") and key is not None:
                submission = self._submit(transaction, site, post, key)
                monitor = self._monitor(transaction, site, post, key)
            if not transaction.run(end_post(post.id, submission, monitor)):
                raise RuntimeError("Another sweep has ended this post; this one is undone.")

    def _submit(self, transaction: Transaction, site: Site, post: WatchedPost, key: UUID) -> UUID | None:
        """Return the job that tells search engines; None where the operator has not set that up."""
        if not self._settings.of(SubmissionSettings).set_up:
            return None
        submission = submission_of(
            IndexSubmit().configured(self._settings),
            IndexCheckRequest(type="submit", urls=[post.url]),
            self._settings,
            account_id=site.account_id,
            api_key_id=key,
            request_id=f"site-{site.id}",
            route=IndexCheck.routes[0],
        )
        raise_refusal(transaction.run(submit(submission)), submission)
        return submission.job_id

    def _monitor(self, transaction: Transaction, site: Site, post: WatchedPost, key: UUID) -> UUID | None:
        """Return the monitor of a post; None if the account has the most it may have."""
        made = uuid7()
        monitor = {
            "every": "day",
            "name": post.title[:200] or None,
            "request": {"diagnose": True},
            "urls": [post.url],
            "sitemap_url": None,
            "webhook_id": None,
            "until_indexed": True,
        }
        most = self._settings.of(IndexLimits).index_monitors
        if transaction.run(add_monitor(made, Caller(site.account_id, key, tier=""), monitor, most=most)):
            return made
        log.warning("post not monitored", site=str(site.id), url=post.url, why="the most monitors")
        return None


def _oldest(posts: Sequence[SitePost]) -> str | None:
    """Return when the oldest of some posts was published; None: there are none, or their site doesn't tell."""
    moments = [one.published_at for one in posts if one.published_at]
    return min(moments).isoformat() if moments else None


def _is_since(post: SitePost, since: str | None) -> bool:
    """Return whether a post is not older than those that stood in the list when the watch began.

    One that is comes into the list when a newer post is deleted."""
    return since is None or post.published_at is None or post.published_at >= datetime.fromisoformat(since)
