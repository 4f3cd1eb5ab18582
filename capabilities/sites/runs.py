"""Runs: what is proposed for a site, reviewed, written and undone. Their changes are in changes.py.

finding -> proposing -> review -> writing -> done, or review again while something waits for a person
any run that has written -> undoing -> undone
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from models.sites import OPEN, RUN_STATES, WORKING
from pipeline.database import SQL, Statement, columns, row_of, rows_of

Task = Literal["alt_text", "posts"]
#: A sweep that says nothing for so long has died, and another one takes its run.
CLAIM = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `options` are what its command was told; `fault` says why it stopped."""

    id: UUID
    site_id: UUID
    task: Task
    options: Mapping[str, Any]
    state: str
    fault: str | None
    created_at: datetime
    finished_at: datetime | None


RUN = columns(Run.__dataclass_fields__)


def start_run(site_id: UUID, task: Task, options: Mapping[str, Any]) -> Statement[tuple[Run, bool]]:
    """Begin a run, or go on with the open one; returns it and whether it is new."""
    return Statement(
        SQL(
            "INSERT INTO site_run (id, site_id, task, options) VALUES (%(id)s, %(site)s, %(task)s, %(options)s)"
            " ON CONFLICT (site_id, task) WHERE state IN ('finding', 'proposing', 'review', 'writing')"
            " DO UPDATE SET fault = NULL, options = site_run.options || excluded.options,"
            # Without a fault a sweep may be at work on it.
            " due_at = CASE WHEN site_run.fault IS NULL THEN site_run.due_at ELSE now() END"
            " RETURNING {}"
        ).format(RUN),
        {"id": (new := uuid4()), "site": site_id, "task": task, "options": Jsonb(dict(options))},
        lambda rows: (Run(**rows[0]), rows[0]["id"] == new),
    )


def read_run(run_id: UUID) -> Statement[Run | None]:
    """Read a run."""
    return Statement(SQL("SELECT {} FROM site_run WHERE id = %(id)s").format(RUN), {"id": run_id}, row_of(Run))


def list_runs(site_id: UUID, *, states: Sequence[str] = RUN_STATES, limit: int = 20) -> Statement[list[Run]]:
    """Read the runs of a site, newest first."""
    return Statement(
        SQL(
            "SELECT {} FROM site_run WHERE site_id = %(site)s AND state = ANY(%(states)s)"
            " ORDER BY created_at DESC LIMIT %(limit)s"
        ).format(RUN),
        {"site": site_id, "states": list(states), "limit": limit},
        rows_of(Run),
    )


def skip_rest(run_id: UUID) -> Statement[int]:
    """Skip changes that nobody has accepted, and end the run; return their number."""
    return Statement(
        "WITH r AS (UPDATE site_run SET state = 'done', fault = NULL, finished_at = now() WHERE id = %(run)s"
        " AND state = ANY(%(open)s) RETURNING id) UPDATE site_change c SET state = 'skipped' FROM r"
        " WHERE c.run_id = r.id AND c.state IN ('found', 'proposed', 'accepted') RETURNING c.id",
        {"run": run_id, "open": list(OPEN)},
        len,
    )


def move(run_id: UUID, *, of: Sequence[str], to: str) -> Statement[bool]:
    """Move a run on that is in one of some states; returns whether it was."""
    return Statement(
        "UPDATE site_run SET state = %(to)s::text, fault = NULL, due_at = now(),"
        " finished_at = CASE WHEN %(to)s::text IN ('done', 'undone') THEN now() END"
        " WHERE id = %(run)s AND state = ANY(%(of)s) RETURNING id",
        {"run": run_id, "of": list(of), "to": to},
        bool,
    )


def go_on(account_id: UUID, name: str) -> Statement[int]:
    """Have the runs of a site go on that have stopped, as its password is new; returns how many."""
    return Statement(
        "UPDATE site_run r SET fault = NULL, due_at = now() FROM site s WHERE s.id = r.site_id"
        " AND s.account_id = %(account)s AND s.name = %(name)s AND r.fault IS NOT NULL AND r.state = ANY(%(working)s)"
        " RETURNING r.id",
        {"account": account_id, "name": name, "working": list(WORKING)},
        len,
    )


def begin_undo(site_id: UUID, run_id: UUID | None = None) -> Statement[Run | None]:
    """Have a run undone, by default the last one that has written something; None: there is none.

    An undo that the site refused is tried again, and that of an edited object if its run is named. A sweep that is at
    work on the run keeps its claim until it notices."""
    return Statement(
        SQL(
            "WITH run AS (UPDATE site_run SET state = 'undoing', fault = NULL, finished_at = NULL,"
            " due_at = CASE WHEN state IN ('review', 'done') THEN now() ELSE greatest(due_at, now()) END"
            " WHERE id = (SELECT r.id FROM site_run r WHERE r.site_id = %(site)s"
            " AND (%(run)s::uuid IS NULL OR r.id = %(run)s) AND EXISTS (SELECT FROM site_change c"
            " WHERE c.run_id = r.id AND (c.state IN ('writing', 'written') OR c.written IS NOT NULL"
            " AND (c.state = 'failed' OR c.state = 'conflict' AND r.id = %(run)s)))"
            " ORDER BY r.created_at DESC LIMIT 1) RETURNING {}),"
            # As after a kill: whether our value stands on the site is seen there.
            " again AS (UPDATE site_change c SET state = 'writing' FROM run WHERE c.run_id = run.id"
            " AND c.state IN ('failed', 'conflict') AND c.written IS NOT NULL) SELECT * FROM run"
        ).format(RUN),
        {"site": site_id, "run": run_id},
        row_of(Run),
    )


# The sweep's statements.


def claim_run(states: Sequence[str] = WORKING) -> Statement[Run | None]:
    """Take the run in one of some states that has waited longest, until `renew` or `put_back`.

    Runs of a suspended account wait."""
    return Statement(
        SQL(
            "UPDATE site_run SET due_at = now() + %(claim)s WHERE id = (SELECT r.id FROM site_run r"
            " JOIN site s ON s.id = r.site_id JOIN account a ON a.id = s.account_id WHERE r.fault IS NULL"
            " AND r.state = ANY(%(states)s) AND r.due_at <= now() AND a.suspended_at IS NULL"
            " ORDER BY r.due_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED) RETURNING {}"
        ).format(RUN),
        {"claim": CLAIM, "states": list(states)},
        row_of(Run),
        repeatable=False,
    )


def renew(run: Run) -> Statement[bool]:
    """Keep a run; returns whether it is still in the state that it was claimed in."""
    return Statement(
        "UPDATE site_run SET due_at = now() + %(claim)s WHERE id = %(run)s AND state = %(state)s RETURNING id",
        {"run": run.id, "state": run.state, "claim": CLAIM},
        bool,
    )


def put_back(run: Run, after: timedelta, fault: str | None = None) -> Statement[bool]:
    """Give a run back: it goes on after a time, or, with a fault, when somebody asks for it.

    A run that is to be undone meanwhile goes on at once."""
    return Statement(
        # Another sweep may be at work on one that our step has moved on.
        "UPDATE site_run SET due_at = CASE WHEN state = %(state)s THEN now() + %(after)s"
        " WHEN state = 'undoing' THEN now() ELSE due_at END,"
        " fault = CASE WHEN state = %(state)s THEN %(fault)s ELSE fault END WHERE id = %(run)s RETURNING id",
        {"run": run.id, "state": run.state, "after": after, "fault": fault},
        bool,
    )
