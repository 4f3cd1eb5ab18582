"""Changes: the fields of a site's objects that a run proposes, with what stood there and what was written."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from models.sites import CHANGE_STATES
from pipeline.database import SQL, Statement, columns, rows_of

#: Changes of one page or one table.
PAGE = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one object (models/sites.py)."""

    id: int
    run_id: UUID
    target: str
    field: str
    about: Mapping[str, Any]
    state: str
    job_id: UUID | None
    confidence: float | None
    draft: bool
    before: Any
    proposed: Any
    written: Any
    note: str | None


@dataclass(frozen=True, slots=True)
class NewChange:
    """A change to be proposed, or, with `proposed`, to be reviewed at once."""

    target: str
    field: str
    about: Mapping[str, Any]
    before: Any
    proposed: Any = None
    note: str | None = None
    #: Why nothing can be proposed; empty: it can.
    refusal: str = ""


CHANGE = columns(Change.__dataclass_fields__)


def count_changes(run_id: UUID) -> Statement[dict[str, int]]:
    """Count a run's changes by state."""
    return Statement(
        "SELECT state, count(*) AS number FROM site_change WHERE run_id = %(run)s GROUP BY state",
        {"run": run_id},
        lambda rows: {row["state"]: row["number"] for row in rows},
    )


def list_changes(
    run_id: UUID, *, states: Sequence[str] = CHANGE_STATES, limit: int = PAGE, offset: int = 0
) -> Statement[list[Change]]:
    """Read a run's changes in the order in which they were found."""
    return Statement(
        SQL(
            "SELECT {} FROM site_change WHERE run_id = %(run)s AND state = ANY(%(states)s)"
            " ORDER BY id LIMIT %(limit)s OFFSET %(offset)s"
        ).format(CHANGE),
        {"run": run_id, "states": list(states), "limit": limit, "offset": offset},
        rows_of(Change),
    )


def list_of_post(site_id: UUID, target: str, url: str) -> Statement[list[Change]]:
    """Read the proposals for a post and its pictures, oldest first."""
    return Statement(
        SQL(
            "SELECT {} FROM site_change c JOIN site_run r ON r.id = c.run_id WHERE r.site_id = %(site)s"
            " AND (c.target = %(target)s OR c.field = 'alt_text' AND c.about->>'page_url' = %(url)s)"
            " ORDER BY c.id LIMIT %(limit)s"
        ).format(columns(Change.__dataclass_fields__, table="c")),
        {"site": site_id, "target": target, "url": url, "limit": PAGE},
        rows_of(Change),
    )


def review(run_id: UUID, decisions: Mapping[int, Any]) -> Statement[int]:
    """Accept changes, each as a person has edited it, or skip those whose text is None; returns how many.

    Changes that are written already stay."""
    return Statement(
        "UPDATE site_change c SET state = CASE WHEN d.text IS NULL THEN 'skipped' ELSE 'accepted' END,"
        " proposed = coalesce(d.text, c.proposed), updated_at = now()"
        " FROM jsonb_to_recordset(%(decisions)s) AS d (id bigint, text jsonb)"
        " WHERE c.run_id = %(run)s AND c.id = d.id AND c.state IN ('proposed', 'accepted', 'skipped', 'failed')"
        " RETURNING c.id",
        {"run": run_id, "decisions": Jsonb([{"id": one, "text": text} for one, text in decisions.items()])},
        len,
    )


def accept_confident(run_id: UUID, at_least: float) -> Statement[int]:
    """Accept proposals of which an engine is sure, and no draft; return their number."""
    return Statement(
        "UPDATE site_change SET state = 'accepted', updated_at = now() WHERE run_id = %(run)s AND state = 'proposed'"
        " AND NOT draft AND confidence >= %(bound)s RETURNING id",
        {"run": run_id, "bound": at_least},
        len,
    )


def add_changes(run_id: UUID, found: Sequence[NewChange]) -> Statement[int]:
    """Store changes of a run, each once; returns how many are new."""
    return Statement(
        "INSERT INTO site_change (run_id, target, field, about, before, proposed, note, state, confidence)"
        " SELECT %(run)s, target, field, about, before, proposed, coalesce(nullif(refusal, ''), note),"
        " CASE WHEN refusal > '' THEN 'failed' WHEN proposed IS NULL THEN 'found' ELSE 'proposed' END,"
        " CASE WHEN proposed IS NOT NULL THEN 1 END FROM jsonb_to_recordset(%(rows)s)"
        " AS f (target text, field text, about jsonb, before jsonb, proposed jsonb, note text, refusal text)"
        " ON CONFLICT (run_id, target, field) DO NOTHING RETURNING id",
        {"run": run_id, "rows": Jsonb([asdict(one) for one in found])},
        len,
    )


def list_unsubmitted(run_id: UUID, limit: int) -> Statement[list[Change]]:
    """Read changes that no job was made for."""
    return Statement(
        SQL(
            "SELECT {} FROM site_change WHERE run_id = %(run)s AND state = 'found' AND job_id IS NULL"
            " ORDER BY id LIMIT %(limit)s"
        ).format(CHANGE),
        {"run": run_id, "limit": limit},
        rows_of(Change),
    )


def leave_out_unsubmitted(run_id: UUID, note: str) -> Statement[int]:
    """Leave out changes that no job is made for, if others of the run have jobs; returns how many.

    People can then review what is paid for; another run finds the rest."""
    return Statement(
        "UPDATE site_change c SET state = 'failed', note = %(note)s, updated_at = now() WHERE run_id = %(run)s"
        " AND state = 'found' AND job_id IS NULL"
        " AND EXISTS (SELECT FROM site_change d WHERE d.run_id = c.run_id AND d.job_id IS NOT NULL) RETURNING id",
        {"run": run_id, "note": note},
        len,
    )


def note_job(job_id: UUID, places: Mapping[int, int]) -> Statement[int]:
    """Note the job of changes, and the place of each one's item; returns how many had none before."""
    return Statement(
        "UPDATE site_change c SET job_id = %(job)s, job_index = p.place"
        " FROM unnest(%(ids)s::bigint[], %(places)s::int[]) AS p (id, place)"
        " WHERE c.id = p.id AND c.job_id IS NULL RETURNING c.id",
        {"job": job_id, "ids": list(places), "places": list(places.values())},
        len,
    )


@dataclass(frozen=True, slots=True)
class Ended:
    """A change whose item has ended. `output` is None if it failed, or if its result was deleted meanwhile."""

    change: Change
    output: dict[str, Any] | None
    error: dict[str, Any] | None


def list_ended(run_id: UUID, *, limit: int = PAGE) -> Statement[list[Ended]]:
    """Read changes that wait for a text, and whose item has ended, or is gone."""
    return Statement(
        SQL(
            "SELECT {}, i.output, i.error FROM site_change c LEFT JOIN item i"
            " ON i.job_id = c.job_id AND i.index = c.job_index WHERE c.run_id = %(run)s AND c.state = 'found'"
            " AND c.job_id IS NOT NULL AND coalesce(i.state IN ('done', 'failed', 'cancelled'), true)"
            " ORDER BY c.id LIMIT %(limit)s"
        ).format(columns(Change.__dataclass_fields__, table="c")),
        {"run": run_id, "limit": limit},
        lambda rows: [Ended(error=row.pop("error"), output=row.pop("output"), change=Change(**row)) for row in rows],
    )


@dataclass(frozen=True, slots=True)
class Proposal:
    """The text of a change, or why there is none."""

    id: int
    proposed: Any
    confidence: float | None = None
    draft: bool = False
    note: str | None = None


def propose(proposals: Sequence[Proposal]) -> Statement[int]:
    """Store proposals of changes that wait for them."""
    return Statement(
        "UPDATE site_change c SET state = CASE WHEN p.proposed IS NULL THEN 'failed' ELSE 'proposed' END,"
        " proposed = p.proposed, confidence = p.confidence, draft = p.draft, note = p.note,"
        " updated_at = now() FROM jsonb_to_recordset(%(sent)s)"
        " AS p (id bigint, proposed jsonb, confidence float, draft boolean, note text)"
        " WHERE c.id = p.id AND c.state = 'found' RETURNING c.id",
        {"sent": Jsonb([asdict(one) for one in proposals])},
        len,
    )


def note_outcome(change_id: int, state: str, *, written: Any = None, note: str | None = None) -> Statement[bool]:
    """Store a change's outcome; without `written`, that stays."""
    return Statement(
        "UPDATE site_change SET state = %(state)s, written = coalesce(%(written)s, written), note = %(note)s,"
        " updated_at = now() WHERE id = %(id)s RETURNING id",
        {"id": change_id, "state": state, "written": None if written is None else Jsonb(written), "note": note},
        bool,
    )


def accept_in_posts(run_id: UUID) -> Statement[int]:
    """Accept the texts that a run has written to pictures for the posts that show them; returns for how many posts."""
    return Statement(
        "INSERT INTO site_change (run_id, target, field, about, state, proposed, confidence)"
        " SELECT c.run_id, post, 'alts', jsonb_build_object('page', min(c.about->>'page')), 'accepted',"
        " jsonb_object_agg(c.target, jsonb_build_array(c.about->>'url', coalesce(c.written, c.proposed))), 1"
        " FROM site_change c, jsonb_array_elements_text(c.about->'posts') post"
        " WHERE c.run_id = %(run)s AND c.field = 'alt_text' AND c.state = 'written' GROUP BY c.run_id, post"
        " ON CONFLICT (run_id, target, field) DO UPDATE SET state = 'accepted', proposed = excluded.proposed"
        " WHERE site_change.proposed <> excluded.proposed RETURNING id",
        {"run": run_id},
        len,
    )
