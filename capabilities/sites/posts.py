"""Posts of watched sites: from their publication to the proof that a search engine shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from capabilities.sites.connectors.connector import SitePost
from pipeline.database import SQL, Statement, columns, row_of, rows_of


@dataclass(frozen=True, slots=True)
class WatchedPost:
    """A post that was published while its site was watched (models/sites.py)."""

    id: int
    target: str
    url: str
    title: str
    runs: Sequence[str]
    submission_id: UUID | None
    monitor_id: UUID | None
    seen_at: datetime
    done_at: datetime | None


POST = columns(WatchedPost.__dataclass_fields__)


def add_posts(site_id: UUID, found: Sequence[SitePost], runs: Sequence[UUID]) -> Statement[int]:
    """Store new posts with the runs that were begun for them, each once; returns how many."""
    return Statement(
        "INSERT INTO site_post (site_id, target, url, title, runs) SELECT %(site)s, target, url, title, %(runs)s"
        " FROM jsonb_to_recordset(%(found)s) AS f (target text, url text, title text)"
        " ON CONFLICT (site_id, target) DO NOTHING RETURNING id",
        {
            "site": site_id,
            "runs": Jsonb([str(one) for one in runs]),
            "found": Jsonb([{"target": one.target, "url": one.url, "title": one.title} for one in found]),
        },
        len,
    )


def list_posts(site_id: UUID, *, is_open: bool = False, limit: int = 100) -> Statement[list[WatchedPost]]:
    """Read a site's posts, newest first; with `is_open` those whose runs have not ended."""
    return Statement(
        SQL(
            "SELECT {} FROM site_post WHERE site_id = %(site)s AND (NOT %(open)s OR done_at IS NULL)"
            " ORDER BY id DESC LIMIT %(limit)s"
        ).format(POST),
        {"site": site_id, "open": is_open, "limit": limit},
        rows_of(WatchedPost),
    )


def find_post(site_id: UUID, post_id: int) -> Statement[WatchedPost | None]:
    """Read a post."""
    return Statement(
        SQL("SELECT {} FROM site_post WHERE site_id = %(site)s AND id = %(id)s").format(POST),
        {"site": site_id, "id": post_id},
        row_of(WatchedPost),
    )


def end_post(post_id: int, submission_id: UUID | None, monitor_id: UUID | None) -> Statement[bool]:
    """Note that a post's runs have ended, and what has followed; returns whether nobody had noted it before."""
    return Statement(
        "UPDATE site_post SET done_at = now(), submission_id = %(submission)s, monitor_id = %(monitor)s"
        " WHERE id = %(id)s AND done_at IS NULL RETURNING id",
        {"id": post_id, "submission": submission_id, "monitor": monitor_id},
        bool,
    )
