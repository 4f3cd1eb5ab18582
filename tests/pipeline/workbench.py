"""The life cycle by short calls, for tests: one account's jobs of made-up kinds, and time travel."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from payers import Payer

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Row
from pipeline.lifecycle import Beat, ClaimedItem, Outcome, Raised, Submission, Submitted, Taken

LEASE = timedelta(seconds=30)
HOUR = timedelta(hours=1)


def submission(
    payer: Payer, prices: Sequence[int] = (1,), *, kind: str = "sketch", lane: str | None = None, **changes: Any
) -> Submission:
    """Return a request for one item a price."""
    wanted: dict[str, Any] = {
        "account_id": payer.account_id,
        "api_key_id": payer.api_key_id,
        "kind": kind,
        "route": f"/{kind}",
        "request": {"text": "hello"},
        "request_id": "request-1",
        "request_hash": b"hash",
        "items": [({"number": number}, price, lane) for number, price in enumerate(prices)],
        "deadline": HOUR,
        "keep_for": HOUR,
        "slice_size": 1,
    }
    return Submission(**{**wanted, **changes})


def empty(connection: psycopg.Connection[Any]) -> None:
    """Delete all rows; ten times as fast as TRUNCATE for a few."""
    for table in ("pause", "item", "job", "ended_job", "credit_entry", "api_key", "account", "person"):
        connection.execute(f"DELETE FROM {table}")


class Workbench:
    """A database, an account, and everything that can be done with its jobs."""

    def __init__(self, database: Database, payer: Payer, connection: psycopg.Connection[Row]) -> None:
        self.database = database
        self.payer = payer
        self._connection = connection

    def submit(self, *prices: int, payer: Payer | None = None, **changes: Any) -> Submitted:
        """Ask for one item a price, 1 by default."""
        return self.database.run(lifecycle.submit(submission(payer or self.payer, prices or (1,), **changes)))

    def job_of(self, *prices: int, **changes: Any) -> UUID:
        """Submit, and return the job that must come of it."""
        submitted = self.submit(*prices, **changes)
        assert submitted.outcome == "accepted"
        assert submitted.job_id is not None
        return submitted.job_id

    def claim(self, limit: int = 1, kind: str = "sketch", **options: Any) -> list[ClaimedItem]:
        """Claim items of one kind, as a worker that holds nothing."""
        return self.database.run(lifecycle.claim({kind: limit}, **{"lease_for": LEASE, **options}))

    def claim_one(self, **options: Any) -> ClaimedItem:
        """Claim the item that must be there."""
        (item,) = self.claim(**options)
        return item

    def report(self, item: ClaimedItem, outcome: Any = "done", credits: int = 0, **more: Any) -> list[Taken]:
        """Report one item."""
        return self.database.run(
            lifecycle.report(item.lease_id, [Outcome(item.item_id, outcome, credits=credits, **more)])
        )

    def report_all(self, items: Sequence[ClaimedItem], outcome: Any = "done", **more: Any) -> list[Taken]:
        """Report the items of one claim alike, at their full price."""
        outcomes = [Outcome(item.item_id, outcome, credits=item.price, **more) for item in items]
        return self.database.run(lifecycle.report(items[0].lease_id, outcomes))

    def beat(self, item: ClaimedItem, **more: Any) -> bool:
        """Send a heartbeat; return whether the item is still held."""
        held = self.database.run(lifecycle.heartbeat([Beat(item.lease_id, item.item_id, **more)], lease_for=LEASE))
        return item.item_id in held

    def raise_hold(self, item: ClaimedItem, credits: int) -> Raised:
        """Set more aside for an item."""
        return self.database.run(lifecycle.raise_hold(item.lease_id, item.item_id, credits))

    def cancel(self, job_id: UUID) -> str | None:
        """Cancel a job of the account."""
        return self.database.run(lifecycle.cancel(job_id, self.payer.account_id))

    def kill_worker(self, item: ClaimedItem) -> None:
        """Let the lease run out, as it does when nobody renews it."""
        self.write("UPDATE item SET lease_until = now() - interval '1 ms' WHERE lease_id = %s", item.lease_id)

    def wake_early(self) -> dict[str, int]:
        """Let the time of every waiting item come, and sweep."""
        self.write("UPDATE item SET run_at = now() WHERE state = 'waiting'")
        return self.database.run(lifecycle.wake_waiting())

    def let_expire(self, job_id: UUID) -> None:
        """Let the deadline of a job pass."""
        self.write("UPDATE job SET deadline = now() - interval '1 ms' WHERE id = %s", job_id)

    def let_results_expire(self, job_id: UUID) -> None:
        """Let the time pass for which a job's results are kept."""
        self.write("UPDATE job SET expires_at = now() - interval '1 ms' WHERE id = %s", job_id)

    def job(self, job_id: UUID) -> Row:
        """Return a job's row."""
        (row,) = self.read("SELECT * FROM job WHERE id = %s", job_id)
        return row

    def item(self, item_id: int) -> Row:
        """Return an item's row."""
        (row,) = self.read("SELECT * FROM item WHERE id = %s", item_id)
        return row

    def items(self, job_id: UUID) -> list[Row]:
        """Return a job's items, in order."""
        return self.read("SELECT * FROM item WHERE job_id = %s ORDER BY index", job_id)

    def balance(self) -> int:
        """Return what the account may spend."""
        (row,) = self.read("SELECT available FROM account WHERE id = %s", self.payer.account_id)
        available: int = row["available"]
        return available

    def entries(self, job_id: UUID) -> list[tuple[str, int, int]]:
        """Return a job's lines of the ledger: what happened, and the changes to balance and holds."""
        rows = self.read("SELECT * FROM credit_entry WHERE job_id = %s ORDER BY id", job_id)
        return [(row["entry"], row["available_change"], row["held_change"]) for row in rows]

    def read(self, sql: str, *parameters: Any) -> list[Row]:
        """Return the rows of a query."""
        return self._connection.execute(sql, parameters).fetchall()

    def write(self, sql: str, *parameters: Any) -> None:
        """Change rows behind the life cycle's back."""
        self._connection.execute(sql, parameters)

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection that is in the middle of a transaction; it is rolled back."""
        with self._connection.transaction(force_rollback=True):
            yield self._connection

    def check(self) -> None:
        """Assert that all accounts, jobs, items and the ledger agree."""
        assert self.database.run(discrepancies()) == []
