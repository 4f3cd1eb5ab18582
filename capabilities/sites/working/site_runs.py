"""Site runs: the chore of the sweep that takes runs one step on, whoever began them."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any

from psycopg import DataError
from psycopg.errors import ProgramLimitExceeded

from capabilities.sites import runs
from capabilities.sites.changes import (
    accept_confident,
    accept_in_posts,
    add_changes,
    count_changes,
    leave_out_unsubmitted,
    list_changes,
    list_unsubmitted,
)
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.runs import Run
from capabilities.sites.sites import Site, find_site, note_facts, open_site
from capabilities.sites.working.finding import find_pictures, find_posts
from capabilities.sites.working.post_parts import FilePart
from capabilities.sites.working.proposing import settle, submit_pictures, submit_post
from capabilities.sites.working.writing import Field, PostAlts, Writer
from models.sites import WORKING
from pipeline.database import Database
from pipeline.errors import InsufficientCredits, KeyCreditsUsed, PressroomError, RateLimitExceeded
from pipeline.log import get_logger
from pipeline.settings import Settings

log = get_logger(__name__)

#: Pause between two looks at a run's jobs, and after a site's passing trouble.
LOOK = timedelta(seconds=1)
TROUBLE = timedelta(seconds=30)
#: Longest pause that a site can ask for; some say a month.
LONGEST = timedelta(hours=1)
#: Characters of an error that are shown.
MAX_SAID = 300
#: Changes of one claim: a site that takes a minute for each leaves time for the others.
SLICE = 24
#: Claims of one call, so that the sweep's log says what was done.
MOST_CLAIMS = 200
AT_ONCE = timedelta()
#: A step keeps its run this often, however long the site takes.
KEEP = runs.CLAIM / 4


class SiteRuns:
    """Takes due runs on. `database` may be shared with other threads."""

    def __init__(self, settings: Settings, states: Sequence[str] = WORKING) -> None:
        """Take on runs in some states alone."""
        self._settings = settings
        self._states = states
        self._steps: Mapping[str, Callable[[Database, Run, Site], Coroutine[Any, Any, timedelta]]] = {
            "finding": self._find,
            "proposing": self._propose,
            "writing": self._write,
            "undoing": self._undo,
        }
        part = FilePart(self._read)
        self._special: Mapping[str, Field] = {"alts": PostAlts(), "cover": part, "audio": part}

    def _read(self, artifact: str) -> bytes:
        from pipeline.storage.artifacts import Artifacts, open_store  # obstore, which few sweeps of sites need

        return Artifacts(open_store(self._settings)).get(artifact)

    def work(self, database: Database) -> int:
        """Take each due run one step on; returns how many steps were taken."""
        for number in range(MOST_CLAIMS):
            run = database.run(runs.claim_run(self._states))
            if run is None:
                return number
            self._step(database, run)
        return MOST_CLAIMS

    def _step(self, database: Database, run: Run) -> None:
        site = database.run(find_site(run.site_id))
        if site is None:
            return  # it was removed, and its runs with it
        try:
            after = asyncio.run(self._kept(database, run, site))
        except SiteTrouble as trouble:
            fault = None if trouble.may_pass else trouble.message
            database.run(runs.put_back(run, min(trouble.retry_after or TROUBLE, LONGEST), fault))
            log.warning("site run put off", run=str(run.id), code=trouble.code, error=trouble.message)
        except PressroomError as error:
            is_for_credits = isinstance(error, InsufficientCredits | KeyCreditsUsed) and run.options.get("watch")
            passes = error.passes or isinstance(error, RateLimitExceeded)  # the account's other jobs end
            fault = None if passes or is_for_credits else error.message
            database.run(runs.put_back(run, LONGEST if is_for_credits else TROUBLE, fault))
            log.warning("site run stopped", run=str(run.id), code=error.code)
        except (ValueError, DataError, ProgramLimitExceeded) as error:
            # A request that is refused, or a text that PostgreSQL can't store: without a fault, tried again for ever.
            said = " ".join(str(error).split())[:MAX_SAID]
            database.run(runs.put_back(run, TROUBLE, f"The site's texts can't be worked with: {said}"))
            log.exception("site run stopped", run=str(run.id))
        else:
            database.run(runs.put_back(run, after))

    async def _kept(self, database: Database, run: Run, site: Site) -> timedelta:
        """Take a step, and keep its run meanwhile. Raises SiteTrouble when the run was ended while it was read.

        Nothing cuts a write off, as the site may still carry it out: `Writer` stops after it, and so does an error of
        the database."""
        step = asyncio.create_task(self._steps[run.state](database, run, site))
        try:
            while not (await asyncio.wait([step], timeout=KEEP.total_seconds()))[0]:
                if not database.run(runs.renew(run)) and run.state in ("finding", "proposing"):
                    step.cancel()
                    raise SiteTrouble("The run was ended.", code="site_run_ended", passes=True)
        finally:
            await asyncio.wait([step])
        return step.result()

    async def _find(self, database: Database, run: Run, site: Site) -> timedelta:
        async with open_site(site, self._settings) as opened:
            facts = await opened.look_up()
            database.run(note_facts(site.id, facts))  # its lists and the user's rights change
            is_of_posts = run.task == "posts"
            found = find_posts(opened, run.options, facts) if is_of_posts else find_pictures(opened, run.options)
            async for changes in found:
                database.run(add_changes(run.id, changes))
        database.run(runs.move(run.id, of=["finding"], to="proposing"))
        return AT_ONCE

    async def _propose(self, database: Database, run: Run, site: Site) -> timedelta:
        # Outputs first: they are paid for, and jobs are not kept for ever.
        if settle(database, run, site):
            return AT_ONCE
        try:
            if await self._submit(database, run, site):
                return AT_ONCE
        except (InsufficientCredits, KeyCreditsUsed) as refused:
            # New posts of a watch wait for credits instead.
            if run.options.get("watch") or not database.run(leave_out_unsubmitted(run.id, refused.message)):
                raise
        if database.run(list_changes(run.id, states=["found"], limit=1)):
            return LOOK
        if (bound := run.options.get("at_least")) is not None:
            database.run(accept_confident(run.id, bound))
        self._go_on(database, run)
        return AT_ONCE

    async def _submit(self, database: Database, run: Run, site: Site) -> int:
        if run.task == "alt_text":
            return submit_pictures(database, run, site, self._settings)
        if not database.run(list_unsubmitted(run.id, 1)):
            return 0
        async with open_site(site, self._settings) as opened:
            return await submit_post(database, run, site, opened, self._settings)

    async def _write(self, database: Database, run: Run, site: Site) -> timedelta:
        changes = database.run(list_changes(run.id, states=["accepted", "writing"], limit=SLICE))
        if not changes and "content" in site.known.abilities and database.run(accept_in_posts(run.id)):
            return AT_ONCE
        if not changes:
            self._go_on(database, run)
            return AT_ONCE
        async with open_site(site, self._settings) as opened:
            await Writer(database, run, opened, self._special).write(changes)
        return AT_ONCE

    async def _undo(self, database: Database, run: Run, site: Site) -> timedelta:
        changes = database.run(list_changes(run.id, states=["written", "writing"], limit=SLICE))
        if not changes:
            database.run(runs.move(run.id, of=["undoing"], to="undone"))
            return AT_ONCE
        async with open_site(site, self._settings) as opened:
            await Writer(database, run, opened, self._special).undo(changes)
        return AT_ONCE

    def _go_on(self, database: Database, run: Run) -> None:
        """Move a run to what it needs next: writing, a person's look, or its end."""
        left = database.run(count_changes(run.id))
        state = "writing" if left.get("accepted") else "review" if left.get("proposed") else "done"
        database.run(runs.move(run.id, of=[run.state], to=state))
