"""Writing: accepted changes go to their site, and come back. Somebody else's edit always wins, and is shown."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from capabilities.sites.changes import Change, note_outcome
from capabilities.sites.connectors.connector import Connector, Values
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.markup import fill_alts, is_same_text, put_back, replaced
from capabilities.sites.runs import Run, renew
from pipeline.database import Database

#: Objects that are written at once: a shared host has few processes.
AT_ONCE = 4
#: Characters of somebody's edit that are shown.
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a change."""

    state: str
    written: Any = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The values that are about to be written, and what a run has to know to undo them."""

    values: Values
    written: Any


#: The state of a change whose object the site refuses, by the code of the refusal.
ENDS: Mapping[str, str] = {"site_target_gone": "gone", "site_target_busy": "conflict"}


class PlainField:
    """A field that is replaced as a whole, such as an alternative text or an excerpt."""

    async def plan(self, site: Connector, change: Change, values: Values) -> Plan | Outcome:
        """Return the plan, or the reason for none."""
        now = values.get(change.field)
        if change.state == "writing" and is_same_text(now, change.proposed):
            # After a kill between the site's answer and our note.
            return Outcome("written", now)
        if is_same_text(now, change.proposed):
            # Without `written`, undo leaves what is the site's own.
            return Outcome("written", note="It already says this.")
        if now != change.before:
            return Outcome("conflict", note=f"Somebody else changed it first, so it stays: {str(now)[:SHOWN]!r}")
        return Plan({change.field: change.proposed}, change.proposed)

    def settle(self, change: Change, plan: Plan, values: Values) -> Outcome:
        """Return the current value, which the site may have cleaned."""
        return Outcome("written", values.get(change.field))

    async def undo(self, site: Connector, change: Change, values: Values) -> Outcome:
        """Restore the previous value."""
        now = values.get(change.field)
        if now == change.before or change.written is None:
            return Outcome("undone")
        if now != change.written and not (change.state == "writing" and is_same_text(now, change.written)):
            return Outcome("conflict", note=f"Somebody changed it since, so it stays: {str(now)[:SHOWN]!r}")
        left = (await site.write(change.target, {change.field: change.before})).get(change.field)
        note = None if left == change.before else f"The site changed it to: {str(left)[:SHOWN]!r}"
        return Outcome("undone", note=note)


class PostAlts:
    """The `alt` of pictures in a post's content; `written` are pairs of an old and a new tag, in their order."""

    async def plan(self, site: Connector, change: Change, values: Values) -> Plan | Outcome:
        """Return the content with texts where pictures have none."""
        content, before = values["content"], [tuple(pair) for pair in change.written or ()]
        pairs = fill_alts(content, {target: (url, text) for target, (url, text) in change.proposed.items()})
        if not pairs:
            # After a kill, or because somebody has written texts of their own.
            return Outcome("written", before) if before else Outcome("skipped", note="All its pictures have texts.")
        written = [*pairs, *(pair for pair in before if pair not in pairs)]
        return Plan({"content": replaced(content, pairs)}, written)

    def settle(self, change: Change, plan: Plan, values: Values) -> Outcome:
        """Return the changed tags."""
        is_same = values["content"] == plan.values["content"]
        return Outcome("written", plan.written, None if is_same else "The site has changed other parts of the post.")

    async def undo(self, site: Connector, change: Change, values: Values) -> Outcome:
        """Put the old tags back, wherever the new ones still stand."""
        content = values["content"]
        restored = put_back(content, change.written or ())
        if restored is None:
            return Outcome("conflict", note="Somebody copied or removed one of these pictures since, so they stay.")
        if restored != content:
            await site.write(change.target, {"content": restored})
        return Outcome("undone")


class Field(Protocol):
    """Writes and undoes one field of an object; `values` are its current ones."""

    async def plan(self, site: Connector, change: Change, values: Values) -> Plan | Outcome: ...
    def settle(self, change: Change, plan: Plan, values: Values) -> Outcome: ...
    async def undo(self, site: Connector, change: Change, values: Values) -> Outcome: ...


class Writer:
    """Writes and undoes changes of a run, until that is ended; `special` are the fields that are not plain."""

    def __init__(self, database: Database, run: Run, site: Connector, special: Mapping[str, Field]) -> None:
        self._database = database
        self._run = run
        self._site = site
        self._special = special
        self._plain: Field = PlainField()

    async def write(self, changes: Sequence[Change]) -> None:
        """Write changes. Raises SiteTrouble for what concerns the whole site."""
        await self._each(changes, self._write)

    async def undo(self, changes: Sequence[Change]) -> None:
        """Restore the values before changes. Raises SiteTrouble for faults of the whole site."""
        await self._each(changes, self._undo)

    async def _each(self, changes: Sequence[Change], do: Callable[[Change, Values], Awaitable[Outcome]]) -> None:
        """Do something with changes: those of one object one after another, a few objects at once."""
        objects: dict[str, list[Change]] = defaultdict(list)
        for change in changes:
            objects[change.target].append(change)
        room = asyncio.Semaphore(AT_ONCE)

        async def one(of_object: list[Change]) -> None:
            async with room:
                for change in of_object:
                    if self._database.run(renew(self._run)):
                        await self._one(change, do)

        try:
            async with asyncio.TaskGroup() as group:
                for of_object in objects.values():
                    group.create_task(one(of_object))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _one(self, change: Change, do: Callable[[Change, Values], Awaitable[Outcome]]) -> None:
        try:
            values = await self._site.read(change.target)
            outcome = (
                Outcome("gone", note="It was deleted on the site.") if values is None else await do(change, values)
            )
        except SiteTrouble as trouble:
            if not trouble.of_target:
                raise
            outcome = Outcome(ENDS.get(str(trouble.code), "failed"), note=trouble.message)
        self._database.run(note_outcome(change.id, outcome.state, written=outcome.written, note=outcome.note))

    async def _write(self, change: Change, values: Values) -> Outcome:
        field = self._special.get(change.field, self._plain)
        planned = await field.plan(self._site, change, values)
        if isinstance(planned, Outcome):
            return planned
        # Before the site is asked: after a kill nobody else knows what to undo.
        if not self._database.run(note_outcome(change.id, "writing", written=planned.written)):
            raise SiteTrouble("The site was removed from Pressroom.", code="site_run_ended", passes=True)
        return field.settle(change, planned, await self._site.write(change.target, planned.values))

    async def _undo(self, change: Change, values: Values) -> Outcome:
        return await self._special.get(change.field, self._plain).undo(self._site, change, values)
