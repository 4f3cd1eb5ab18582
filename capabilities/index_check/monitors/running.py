"""Running: makes the jobs of monitors, exactly one for each due time, however many sweeps run."""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from capabilities.index_check.monitors.changes import settle_ended
from capabilities.index_check.monitors.monitor import INTERVALS, Every
from capabilities.index_check.requests.request import IndexCheckRequest, check_engine, with_lanes
from capabilities.index_check.sites.connections import OwnedSite, sites_of
from pipeline.database import SQL, Database, Statement, Transaction, columns, nothing, row_of, rows_of
from pipeline.errors import Conflict, PressroomError, Unauthorized
from pipeline.jobs.on_behalf import raise_refusal, submission_of
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submission, submit
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers, read_offers
from pipeline.settings import Settings
from pipeline.timestamps import timestamp

log = get_logger(__name__)

#: Monitors that are claimed together, and whose sitemaps are read at once.
AT_ONCE = 8
#: A monitor whose sweep has died is claimed again after this time.
BUSY_FOR = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class Due:
    """A monitor that is due. `busy_until` identifies this claim."""

    id: UUID
    account_id: UUID
    api_key_id: UUID
    name: str | None
    every: Every
    request: Mapping[str, Any]
    urls: list[str] | None
    sitemap_url: str | None
    next_at: datetime
    busy_until: datetime


@dataclass(frozen=True, slots=True)
class LockedMonitor:
    """The state of a monitor while it is locked."""

    has_open_job: bool
    is_unsettled: bool
    api_key_id: UUID | None
    now: datetime


class MonitorRuns:
    """Makes the jobs of monitors, and compares the answers of ended ones."""

    def __init__(self, kind: AnyKind, settings: Settings) -> None:
        self._kind = kind
        self._settings = settings

    def run(self, database: Database) -> int:
        """Do everything that is due; returns how many jobs were compared, made or skipped."""
        # First: a monitor is not run while its last answers wait to be compared.
        done = settle_ended(database)
        claimed = database.run(_claim_due())
        if not claimed:
            return done
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = [threads.submit(self._urls_of, due) for due in claimed]
            wait(found)  # no transaction waits for a sitemap
            for due, urls in zip(claimed, found, strict=True):
                error = threads.submit(self._run_one, database, due, urls).exception()
                if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
                    raise error  # the server is away: the others would fail as well
                if error is not None:
                    # It is claimed again before younger ones, which would wait for it for ever.
                    log.error("monitor failed", monitor=str(due.id), exc_info=error)
        return done + len(claimed)

    def _urls_of(self, due: Due) -> list[str]:
        """Return the URLs to check. Raises PressroomError."""
        if due.urls is not None:
            return due.urls
        from capabilities.index_check.sitemaps.reading import list_pages  # aiohttp, which few sweeps need

        return list_pages(due.sitemap_url or "", self._settings)

    def _run_one(self, database: Database, due: Due, urls: Future[list[str]]) -> None:
        with database.transaction() as transaction:
            locked = transaction.run(_lock(due))
            if locked is None:
                return  # it was changed, paused or deleted, or another sweep has run it
            if locked.is_unsettled:
                transaction.run(_put_back(due))
                return
            try:
                job_id, total = self._submit(transaction, due, locked, urls)
            except PressroomError as error:
                transaction.run(_skip(due, error, locked.now))
                log.info("monitor skipped", monitor=str(due.id), code=error.code)
            else:
                transaction.run(_note_run(due, job_id, total))
                log.info("monitor run", monitor=str(due.id), job_id=str(job_id), urls=total)

    def _submit(
        self, transaction: Transaction, due: Due, locked: LockedMonitor, reading: Future[list[str]]
    ) -> tuple[UUID, int]:
        """Make the job; returns its id and number of URLs. Raises PressroomError."""
        error = reading.exception()
        if error is not None and not isinstance(error, PressroomError):
            # A server's answer must not hold up the other monitors of this claim.
            log.error("sitemap failed", monitor=str(due.id), exc_info=error)
            raise PressroomError("The sitemap could not be read through a fault of ours, which is in the log.")
        urls = reading.result()
        if locked.has_open_job:
            raise Conflict(
                "The job of the last run has not ended. Check fewer URLs, or every week, if its pace allows no more.",
                code="still_running",
            )
        if locked.api_key_id is None:
            raise Unauthorized("The account has no valid API key to pay with. Create one.")
        sites = transaction.run(sites_of(due.account_id))
        found: list[Offer] = transaction.run(read_offers())
        offers = order_offers(self._settings, found)
        submission = self._submission(due, locked.api_key_id, urls, sites, offers)
        raise_refusal(transaction.run(submit(submission)), submission)
        return submission.job_id, len(submission.items)

    def _submission(
        self, due: Due, api_key_id: UUID, urls: list[str], sites: Sequence[OwnedSite], offers: Offers
    ) -> Submission:
        kind, settings = self._kind, self._settings
        # Reused answers would hide changes. A sitemap may list invalid URLs.
        sent = {"type": "check", "urls": urls, "source": "api", "fresh": True, "skip_invalid": True, **due.request}
        if due.name:
            sent["name"] = due.name
        request = IndexCheckRequest.model_validate(sent)
        # A job that no provider answers would wait until its deadline, and hold its credits.
        check_engine(request, offers)
        submission = submission_of(
            kind,
            request,
            settings,
            account_id=due.account_id,
            api_key_id=api_key_id,
            request_id=f"monitor-{due.id}",
            source=request.source,
        )
        return replace(
            submission,
            request_hash=hashlib.sha256(f"{due.id} {due.next_at}".encode()).digest(),
            items=with_lanes(submission.items, request, sites),
        )


def _claim_due() -> Statement[list[Due]]:
    return Statement(
        SQL(
            "UPDATE index_monitor m SET busy_until = now() + %(busy)s WHERE m.id = ANY (ARRAY("
            "SELECT o.id FROM index_monitor o WHERE o.state = 'active' AND o.next_at <= now()"
            " AND coalesce(o.busy_until <= now(), true)"
            " ORDER BY o.next_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED)) RETURNING {}"
        ).format(columns(Due.__dataclass_fields__, table="m")),
        {"busy": BUSY_FOR, "limit": AT_ONCE},
        rows_of(Due),
        repeatable=False,
    )


def _lock(due: Due) -> Statement[LockedMonitor | None]:
    """Lock a monitor that is unchanged since its claim, and choose the key that pays: its own, or else the last used
    one without limits."""
    return Statement(
        "SELECT m.open_job_id IS NOT NULL AS has_open_job, m.open_job_id IS NOT NULL AND NOT EXISTS ("
        "SELECT FROM job j WHERE j.id = m.open_job_id AND j.finished_at IS NULL) AS is_unsettled,"
        " (SELECT k.id FROM api_key k WHERE k.account_id = m.account_id AND k.revoked_at IS NULL"
        " AND (k.id = m.api_key_id OR num_nonnulls(k.requests_per_minute, k.credits_per_month, k.routes) = 0)"
        " ORDER BY k.id = m.api_key_id DESC, k.last_used_at DESC NULLS LAST LIMIT 1) AS api_key_id, now() AS now"
        " FROM index_monitor m WHERE m.id = %(id)s AND m.state = 'active' AND m.next_at = %(next_at)s"
        " AND m.busy_until = %(busy_until)s FOR NO KEY UPDATE OF m",
        {"id": due.id, "next_at": due.next_at, "busy_until": due.busy_until},
        row_of(LockedMonitor),
    )


#: The next time after now: missed runs are not made up for.
_NEXT = SQL(
    "next_at = next_at + %(interval)s * (1 + floor(extract(epoch FROM now() - next_at)"
    " / extract(epoch FROM %(interval)s::interval))), busy_until = NULL"
)


def _note_run(due: Due, job_id: UUID, total: int) -> Statement[None]:
    return _update(
        due,
        SQL(
            "{}, open_job_id = %(job)s, last_job_id = %(job)s, last_run_at = now(), total_urls = %(total)s,"
            " skipped = NULL"
        ).format(_NEXT),
        {"interval": INTERVALS[due.every], "job": job_id, "total": total},
    )


def _skip(due: Due, error: PressroomError, now: datetime) -> Statement[None]:
    skipped = {"code": error.code, "message": error.message, "at": timestamp(now)}
    return _update(
        due,
        SQL("{}, skipped = %(skipped)s").format(_NEXT),
        {"interval": INTERVALS[due.every], "skipped": Jsonb(skipped)},
    )


def _put_back(due: Due) -> Statement[None]:
    return _update(due, SQL("busy_until = NULL"), {})


def _update(due: Due, changes: SQL, values: Mapping[str, Any]) -> Statement[None]:
    return Statement(
        SQL("UPDATE index_monitor SET {} WHERE id = %(id)s RETURNING id").format(changes),
        {**values, "id": due.id},
        nothing,
    )
