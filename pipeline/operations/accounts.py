"""Accounts as an operator sees them: all of them, page by page, and one with what it has open."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.database import SQL, Row, Statement, rows_of
from pipeline.jobs.job_views import open_sql

#: Accounts on a page.
PAGE_SIZE = 50
#: Lines of what operators gave and took that are shown.
MOST_GRANTS = 20
#: Longest text that is searched for.
MAX_SEARCH = 200


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """One account; `email` is its first owner's.

    `held` is what its open jobs have set aside, `open_jobs` is at most MOST_COUNTED."""

    id: UUID
    name: str
    email: str | None
    tier: str
    available: int
    held: int
    open_jobs: int
    keys: int
    is_operator: bool
    suspended_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Grant:
    """Credits that an operator gave, or took back."""

    credits: int
    note: str | None
    created_at: datetime


_ACCOUNTS = SQL(
    "SELECT a.id, a.name, f.email, a.tier, a.available, o.held, o.open_jobs, k.keys,"
    " a.is_operator, a.suspended_at, a.created_at FROM (SELECT * FROM account c WHERE {found}"
    "  ORDER BY c.created_at DESC, c.id LIMIT %(limit)s OFFSET %(offset)s) a"
    # For the accounts of the page alone, each by its own index.
    " CROSS JOIN LATERAL ({open}) o"
    " CROSS JOIN LATERAL (SELECT count(*) AS keys FROM api_key k"
    "  WHERE k.account_id = a.id AND k.revoked_at IS NULL AND NOT k.is_dashboard) k"
    " LEFT JOIN LATERAL (SELECT p.email FROM membership m JOIN person p ON p.id = m.person_id"
    "  WHERE m.account_id = a.id AND m.role = 'owner' ORDER BY m.created_at, p.id LIMIT 1) f ON true"
    " ORDER BY a.created_at DESC, a.id"
)
_OPEN = open_sql(SQL("a.id"))
_HAS_TEXT = SQL(
    "%(search)s = '' OR strpos(lower(concat_ws(' ', c.name, c.id)), lower(%(search)s)) > 0"
    " OR c.id IN (SELECT m.account_id FROM membership m"
    "  JOIN person p ON p.id = m.person_id WHERE strpos(p.email, lower(%(search)s)) > 0)"
)


def list_accounts(search: str = "", *, offset: int = 0) -> Statement[list[AccountSummary]]:
    """Read a page of accounts and one more, newest first; those whose name, id or a person's e-mail has the text."""
    return Statement(
        _ACCOUNTS.format(found=_HAS_TEXT, open=_OPEN),
        {"search": search, "limit": PAGE_SIZE + 1, "offset": offset},
        _summaries,
    )


def find_account(account_id: UUID) -> Statement[AccountSummary | None]:
    """Read one account; None when there is none with that id."""
    return Statement(
        _ACCOUNTS.format(found=SQL("c.id = %(id)s"), open=_OPEN),
        {"id": account_id, "limit": 1, "offset": 0},
        lambda rows: _summaries(rows)[0] if rows else None,
    )


def list_grants(account_id: UUID) -> Statement[list[Grant]]:
    """Read an account's grants by operators, the last first."""
    return Statement(
        "SELECT e.available_change AS credits, e.note, e.created_at FROM credit_entry e"
        " WHERE e.account_id = %(account)s AND e.entry = 'grant' ORDER BY e.created_at DESC LIMIT %(limit)s",
        {"account": account_id, "limit": MOST_GRANTS},
        rows_of(Grant),
    )


def _summaries(rows: list[Row]) -> list[AccountSummary]:
    return [AccountSummary(**row) for row in rows]
