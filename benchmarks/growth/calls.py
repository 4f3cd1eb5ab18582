"""Calls: everything that is asked of jobs, items and ledger, as the project's own functions ask it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from benchmarks.growth.filling import ACCOUNT, KEYS, NEIGHBOUR, NEIGHBOURS_KEY, Size
from capabilities.index_check.results.jobs import list_index_jobs
from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.accounts.stored_keys import list_keys
from pipeline.database import Statement
from pipeline.jobs.job_lists import JobFilter, list_jobs
from pipeline.lifecycle import Beat, ClaimedItem, Outcome, Submission
from pipeline.lifecycle.jobs import find_delivery, find_job, find_replay
from pipeline.operations.accounts import find_account, list_grants
from pipeline.operations.failures import read_failures
from pipeline.operations.load import read_load
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.usage.usage_report import DaySpan, read_ledger, read_usage, read_used

LEASE = timedelta(seconds=30)
FIRST = JobFilter(account_id=ACCOUNT)
KINDS = load_kinds(Settings())


@dataclass(frozen=True, slots=True)
class Run:
    """Helps a call to prepare: statements in its transaction, and the database's size."""

    run: Callable[[Statement[Any]], Any]
    size: Size

    def any_job(self) -> dict[str, Any]:
        """Return a job from the middle of the account's history; of one without any, an open one of the neighbour."""
        found = self.run(
            Statement("SELECT * FROM job WHERE request_id = %(id)s", {"id": f"request-{self.size.finished // 2 or 1}"})
        ) or self.run(Statement("SELECT * FROM job WHERE request_id = 'open-1'", {}))
        row: dict[str, Any] = found[0]
        return row

    def claim(self, limit: int) -> list[ClaimedItem]:
        """Claim some items."""
        claimed: list[ClaimedItem] = self.run(lifecycle.claim({"speech": limit}, lease_for=LEASE))
        return claimed


@dataclass(frozen=True, slots=True)
class Call:
    """A statement by name; what it needs done before is done in the same transaction."""

    name: str
    statement: Callable[[Run], Statement[Any]]
    is_slow: bool = False  # one round of it is enough


def _submission(account: UUID, key: UUID) -> Submission:
    return Submission(
        account_id=account,
        api_key_id=key,
        kind="speech",
        route="/tts",
        request={"voice": "en-US", "format": "mp3"},
        request_id=uuid4().hex,
        request_hash=bytes(32),
        items=[({"text": "word " * 60}, 1, None)],
        deadline=timedelta(days=1),
        keep_for=timedelta(days=1),
        slice_size=10,
        idempotency_key=uuid4().hex,
        max_open_items=10**9,
    )


def _report(limit: int) -> Callable[[Run], Statement[Any]]:
    def statement(run: Run) -> Statement[Any]:
        claimed = run.claim(limit)
        done = [Outcome(item.item_id, "done", item.price, output={"seconds": 12.5}) for item in claimed]
        return lifecycle.report(claimed[0].lease_id, done)

    return statement


def _beat(run: Run) -> Statement[Any]:
    beats = [Beat(item.lease_id, item.item_id, progress={"done": 1}) for item in run.claim(25)]
    return lifecycle.heartbeat(beats, lease_for=LEASE)


def _listed(**changes: Any) -> Callable[[Run], Statement[Any]]:
    return lambda _: list_jobs(replace(FIRST, **changes))


def _deep(run: Run) -> Statement[Any]:
    return list_jobs(FIRST, limit=20, offset=run.size.finished // 2)


def _since(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def _span(days: int) -> DaySpan:
    today = datetime.now(UTC).date()
    return DaySpan(today - timedelta(days=days - 1), today)


def _deep_ledger(run: Run) -> Statement[Any]:
    middle = run.run(
        Statement(
            "SELECT id FROM credit_entry WHERE account_id = %(account)s AND id >= (SELECT max(id) / 2 FROM credit_entry"
            " WHERE account_id = %(account)s) LIMIT 1",
            {"account": ACCOUNT},
        )
    )
    return read_ledger(ACCOUNT, before=middle[0]["id"], limit=100)


def _replay(run: Run) -> Statement[Any]:
    job = run.any_job()
    return find_replay(
        job["account_id"],
        route=job["route"],
        idempotency_key=job["idempotency_key"] or "none",
        request_hash=job["request_hash"],
        window=timedelta(days=365),
    )


def _reap(run: Run) -> Statement[Any]:
    run.run(lifecycle.claim({"speech": 25}, lease_for=timedelta(seconds=-1)))
    return lifecycle.reap()


def _uncount(run: Run) -> Statement[Any]:
    """Let 25 jobs of one item end."""
    run.run(_report(25)(run))
    return lifecycle.uncount()


def _purge(run: Run) -> Statement[Any]:
    """Let one job be due."""
    run.run(
        Statement(
            "UPDATE job SET expires_at = now() - interval '1 s' WHERE id = (SELECT id FROM job"
            " WHERE purged_at IS NULL AND expires_at IS NOT NULL ORDER BY expires_at LIMIT 1) RETURNING 1"
        )
    )
    return lifecycle.purge()


CALLS = (
    Call("submit", lambda _: lifecycle.submit(_submission(ACCOUNT, KEYS[0]))),
    Call("submit, another account", lambda _: lifecycle.submit(_submission(NEIGHBOUR, NEIGHBOURS_KEY))),
    Call("claim 1", lambda _: lifecycle.claim({"speech": 1}, lease_for=LEASE)),
    Call("claim 25", lambda _: lifecycle.claim({"speech": 25}, lease_for=LEASE)),
    Call("claim the oldest", lambda _: lifecycle.claim({"speech": 1}, lease_for=LEASE, oldest=True)),
    Call("report 1", _report(1)),
    Call("report 25", _report(25)),
    Call("heartbeat of 25", _beat),
    Call("job by id", lambda run: find_job(run.any_job()["id"], ACCOUNT)),
    Call("answer of a job", lambda run: find_delivery(run.any_job()["id"], ACCOUNT)),
    Call("replay by Idempotency-Key", _replay),
    Call("jobs: first page", _listed()),
    Call("jobs: page in the middle", _deep),
    Call("jobs: not ended", _listed(states=("queued", "running"))),
    Call("jobs: delivered", _listed(states=("succeeded", "partial"))),
    Call("jobs: failed", _listed(states=("failed",))),
    Call("jobs: of a frequent kind", _listed(kinds=("speech",))),
    Call("jobs: of a rare kind", _listed(kinds=("blog_metadata",))),
    Call("jobs: of the last day", lambda _: list_jobs(replace(FIRST, since=_since(1)))),
    Call("jobs: of a month", lambda _: list_jobs(replace(FIRST, since=_since(60), until=_since(30)))),
    Call("jobs: by request id", lambda run: list_jobs(replace(FIRST, request_id=run.any_job()["request_id"]))),
    Call("jobs: by id's beginning", lambda run: list_jobs(replace(FIRST, id_prefix=str(run.any_job()["id"])[:8]))),
    Call("jobs: of some routes", _listed(routes=("/tts",))),
    Call("jobs: with a text", _listed(text="chapter one")),
    Call("index jobs: first page", lambda _: list_index_jobs(ACCOUNT, providers=["bing"], limit=20, offset=0)),
    Call("usage, all", lambda _: read_usage(ACCOUNT)),
    Call("usage of 30 days", lambda _: read_used(ACCOUNT, _span(30))),
    Call("usage of 366 days", lambda _: read_used(ACCOUNT, _span(366))),
    Call("keys with their month", lambda _: list_keys(ACCOUNT)),
    Call("ledger: first page", lambda _: read_ledger(ACCOUNT, limit=100)),
    Call("ledger: page in the middle", _deep_ledger),
    Call("operators: an account", lambda _: find_account(ACCOUNT)),
    Call("operators: its grants", lambda _: list_grants(ACCOUNT)),
    Call("operators: failures of a week", lambda _: read_failures(timedelta(days=7))),
    Call("load of the queues", lambda _: read_load(KINDS)),
    Call("sweep: wake_waiting", lambda _: lifecycle.wake_waiting()),
    Call("sweep: reap", _reap),
    Call("sweep: expire", lambda _: lifecycle.expire()),
    Call("sweep: end_suspended", lambda _: lifecycle.end_suspended()),
    Call("sweep: uncount 25", _uncount),
    Call("sweep: purge", _purge),
    Call("sweep: forget 1,000", lambda _: lifecycle.forget(timedelta(days=45))),
    Call("audit", lambda _: discrepancies(), is_slow=True),
)
