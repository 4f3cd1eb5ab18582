"""Job ends: the events that tell webhooks of jobs that have ended.

The life cycle adds a delivery without a body in the transaction that ends the job. Until it is replaced here, no sender
claims it: it names no account. The bodies are written by the function that writes GET /jobs/{id}."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from uuid import UUID

from pipeline.database import Database, Row, Statement, nothing
from pipeline.jobs.job_documents import ended_job_document
from pipeline.lifecycle.jobs import SELECT_JOBS, Job
from pipeline.webhooks.accounts import AccountWebhook, list_webhooks
from pipeline.webhooks.events import EVENT_OF_STATE, event_body

#: Ends that one transaction tells.
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class _Event:
    """An event for one webhook, in place of a delivery without a body. No webhook: the account's secret signs it."""

    delivery: UUID
    account: UUID
    webhook: UUID | None
    url: str
    event: str
    body: str


def tell_ends(database: Database) -> int:
    """Write the events of jobs that have ended; return how many ends there were."""
    return sum(iter(lambda: _tell_some(database), 0))


def _tell_some(database: Database) -> int:
    with database.transaction() as transaction:
        ends = transaction.run(_take_ends())
        if not ends:
            return 0
        jobs = transaction.run(_read_jobs([end["job_id"] for end in ends]))
        accounts = {job.account_id for job in jobs.values() if job.webhook_url is None}
        webhooks = transaction.run(list_webhooks(*accounts)) if accounts else []
        transaction.run(_write(list(_events(ends, jobs, webhooks))))
        transaction.run(_drop(ends))
        return len(ends)


def _take_ends() -> Statement[list[Row]]:
    return Statement(
        "SELECT id, job_id, url FROM webhook_delivery"
        " WHERE state = 'pending' AND coalesce(account_id, webhook_id) IS NULL"
        " ORDER BY next_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED",
        {"limit": AT_ONCE},
    )


def _read_jobs(ids: Sequence[UUID]) -> Statement[dict[UUID, Job]]:
    return Statement(
        f"{SELECT_JOBS} WHERE j.id = ANY(%(ids)s)", {"ids": ids}, lambda rows: {row["id"]: Job(**row) for row in rows}
    )


def _events(ends: Sequence[Row], jobs: Mapping[UUID, Job], webhooks: Sequence[AccountWebhook]) -> Iterator[_Event]:
    """Yield the deliveries of each end: to the address that its request named, else to the account's webhooks."""
    by_account: defaultdict[UUID, list[AccountWebhook]] = defaultdict(list)
    for webhook in webhooks:
        by_account[webhook.account_id].append(webhook)
    for end in ends:
        job = jobs.get(end["job_id"])
        if job is None or job.finished_at is None:
            continue
        event = EVENT_OF_STATE[job.state]
        if job.webhook_events is not None and event not in job.webhook_events:
            continue
        body = event_body(event, ended_job_document(job), job.finished_at)
        if end["url"] is not None:
            yield _Event(end["id"], job.account_id, None, end["url"], event, body)
            continue
        for webhook in by_account[job.account_id]:
            if webhook.url is not None and (webhook.events is None or event in webhook.events):
                yield _Event(end["id"], job.account_id, webhook.id, webhook.url, event, body)


def _write(events: Sequence[_Event]) -> Statement[None]:
    columns = zip(*map(astuple, events), strict=True) if events else [()] * len(fields(_Event))
    names = [field.name for field in fields(_Event)]
    return Statement(
        "INSERT INTO webhook_delivery (id, account_id, webhook_id, job_id, url, event, body, created_at, next_at)"
        " SELECT gen_random_uuid(), e.account, e.webhook, d.job_id, e.url, e.event, e.body, d.created_at, d.next_at"
        " FROM unnest(%(delivery)s::uuid[], %(account)s::uuid[], %(webhook)s::uuid[], %(url)s::text[],"
        " %(event)s::text[], %(body)s::text[]) e (delivery, account, webhook, url, event, body)"
        " JOIN webhook_delivery d ON d.id = e.delivery RETURNING id",
        dict(zip(names, map(list, columns), strict=True)),
        nothing,
    )


def _drop(ends: Sequence[Row]) -> Statement[None]:
    return Statement(
        "DELETE FROM webhook_delivery WHERE id = ANY(%(ids)s) RETURNING id",
        {"ids": [end["id"] for end in ends]},
        nothing,
    )
