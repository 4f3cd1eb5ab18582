"""Job ends: the events that tell webhooks of jobs that have ended.

The life cycle adds a delivery without a body in the transaction that ends the job. Its body is written here, by the
function that writes GET /jobs/{id}, and until then no sender claims it: it names no account."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from pipeline.database import Database, Row, Statement
from pipeline.jobs.job_documents import ended_job_document
from pipeline.lifecycle.jobs import SELECT_JOBS, Job
from pipeline.webhooks.events import EVENT_OF_STATE, event_body

#: Events that one transaction writes.
AT_ONCE = 500


def tell_ends(database: Database) -> int:
    """Write the events of jobs that have ended; return how many."""
    return sum(iter(lambda: _tell_some(database), 0))


def _tell_some(database: Database) -> int:
    with database.transaction() as transaction:
        ends = transaction.run(_take_ends())
        if not ends:
            return 0
        jobs = transaction.run(_read_jobs([end["job_id"] for end in ends]))
        return transaction.run(_write(list(_events(ends, jobs)))) + transaction.run(_drop_untold(ends))


def _take_ends() -> Statement[list[Row]]:
    return Statement(
        "SELECT id, job_id FROM webhook_delivery WHERE state = 'pending' AND coalesce(account_id, webhook_id) IS NULL"
        " ORDER BY next_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED",
        {"limit": AT_ONCE},
    )


def _read_jobs(ids: Sequence[UUID]) -> Statement[dict[UUID, Job]]:
    return Statement(
        f"{SELECT_JOBS} WHERE j.id = ANY(%(ids)s)",
        {"ids": ids},
        lambda rows: {row["id"]: Job(**row) for row in rows},
    )


def _events(ends: Sequence[Row], jobs: dict[UUID, Job]) -> Iterator[tuple[UUID, UUID, str, str]]:
    """Yield delivery, account, event and body of each end that its webhook wants to be told."""
    for end in ends:
        job = jobs.get(end["job_id"])
        if job is None or job.finished_at is None:
            continue
        event = EVENT_OF_STATE[job.state]
        if job.webhook_events is None or event in job.webhook_events:
            yield end["id"], job.account_id, event, event_body(event, ended_job_document(job), job.finished_at)


def _write(events: Sequence[tuple[UUID, UUID, str, str]]) -> Statement[int]:
    ids, accounts, names, bodies = zip(*events, strict=True) if events else ((), (), (), ())
    return Statement(
        "UPDATE webhook_delivery d SET account_id = e.account, event = e.event, body = e.body"
        " FROM unnest(%(ids)s::uuid[], %(accounts)s::uuid[], %(events)s::text[], %(bodies)s::text[])"
        " e (id, account, event, body) WHERE d.id = e.id RETURNING 1 AS written",
        {"ids": list(ids), "accounts": list(accounts), "events": list(names), "bodies": list(bodies)},
        len,
    )


def _drop_untold(ends: Sequence[Row]) -> Statement[int]:
    """Delete those that still have no account: nobody wants to be told."""
    return Statement(
        "DELETE FROM webhook_delivery WHERE id = ANY(%(ids)s) AND account_id IS NULL RETURNING 1 AS dropped",
        {"ids": [end["id"] for end in ends]},
        len,
    )
