"""`pressroom sweep`: work that is due by time. Several may run; each skips rows that another has locked."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, NoReturn
from uuid import UUID

import psycopg
import typer
from redis.exceptions import RedisError

from pipeline import lifecycle, log
from pipeline.accounts.audit import forget_events
from pipeline.capabilities import parts
from pipeline.database import Database, Statement
from pipeline.errors import PressroomError
from pipeline.identifiers import machine
from pipeline.kind import AnyKind
from pipeline.lifecycle.jobs import find_open
from pipeline.notices.outbox import forget_mails
from pipeline.notices.sending import MailSending
from pipeline.operations.child_processes import die_with_parent
from pipeline.operations.processes import HASH, ProcessReporter, is_alive, read_processes
from pipeline.operations.samples import SAMPLE_EVERY, forget_samples, take_samples
from pipeline.operations.supervision import is_supervised
from pipeline.registry import Kinds, lanes_of, load_kinds
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.storage.resumable import find_uploads, forget_uploads
from pipeline.usage.usage_days import sum_usage
from pipeline.wakes.broker import WakeBroker, connect
from pipeline.webhooks.deliveries import forget_deliveries
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.system.control import settings_of_running
from scripts.system.ended_jobs import close_job
from scripts.system.mass_changing import MassChanging
from scripts.system.sizing.autoscale import Autoscaler
from workers.webhooks.sending import WebhookSending

logger = log.get_logger(__name__)

#: A deletion that its API process has not finished by then was interrupted.
DELETION_TAKES = timedelta(minutes=1)
#: Deleting files is not urgent, and listing them costs S3 requests.
HOUSEKEEPING_EVERY = timedelta(minutes=10)
#: Most jobs of one step, so that the other steps do not wait for long.
MOST_JOBS = 1_000
NOW: Statement[datetime] = Statement("SELECT now()", {}, lambda rows: rows[0]["now"])
#: One for the steps, one for each chore and one for scaling.
CONNECTIONS = 8
#: How often pools are scaled.
SCALE_SECONDS = 2.0


class Sweep:
    """Makes due items ready, takes items back from dead workers, ends late jobs, and deletes expired data."""

    def __init__(
        self, database: Database, broker: WakeBroker, artifacts: Artifacts, kinds: Kinds, settings: Settings
    ) -> None:
        self._database = database
        self._broker = broker
        self._artifacts = artifacts
        self._kinds = kinds
        self._settings = settings
        self._began: datetime | None = None
        self._stepped: datetime | None = None
        self._housekeeping_due = 0.0
        self._sample_due = 0.0

    def step(self) -> None:
        try:
            # Workers that were last heard of before, while the database was away, or while this machine slept, were
            # lost with what ended that.
            now = self._database.run(NOW)
            if self._began is None or self._stepped is None or now - self._stepped > self._lease:
                self._began = now
            self._stepped = now
            self.once()
        except PressroomError:
            self._began = None
            raise

    def once(self) -> Mapping[str, int]:
        """Sweep once; returns how many rows or files each step handled."""
        done = {
            "woken": self._wake(),
            "uncounted": self._database.run(lifecycle.uncount()),
            **self._take_back(),
            "expired": self._end_jobs(lifecycle.expire),
            "suspended": self._end_jobs(lifecycle.end_suspended),
            "purged": self._repeat(lambda: self._database.run(lifecycle.purge()) is not None),
            "deleted": self._end_deletions(),
            "forgotten": self._database.run(lifecycle.forget(timedelta(days=self._settings.retention.summary_days))),
        }
        if time.monotonic() >= self._housekeeping_due:
            self._housekeeping_due = time.monotonic() + HOUSEKEEPING_EVERY.total_seconds()
            done |= self._keep_house() | self._delete_files() | {"schemas_dropped": self._retire()}
        if time.monotonic() >= self._sample_due:
            self._sample_due = time.monotonic() + SAMPLE_EVERY.total_seconds()
            take_samples(self._database, self._broker.client, self._kinds)
            sum_usage(self._database)
        if any(done.values()):
            logger.info("swept", **{name: number for name, number in done.items() if number})
        return done

    @property
    def chores(self) -> Mapping[str, Callable[[], int]]:
        """Work beside the steps that asks other servers and may take long; each needs a thread of its own."""
        webhooks = WebhookSending(self._settings)
        changing = MassChanging(self._database, self._broker, self._kinds, self._settings, self._close)
        of_capabilities = {
            name: partial(chore, self._database)
            for part in parts("chores")
            for name, chore in part.chores(self._settings).items()
        }
        return (
            of_capabilities
            | {
                name: partial(self._do_chore, kind, chore)
                for kind in self._kinds.values()
                for name, chore in kind.chores(self._settings).items()
            }
            | {
                "webhooks": partial(webhooks.send_due, self._database),
                "mail": partial(MailSending(self._settings).work, self._database),
                "mass_changes": self._all_pages(changing),
            }
        )

    def _all_pages(self, changing: MassChanging) -> Callable[[], int]:
        """Return the chore that carries out pages one after another, as long as they change anything."""
        return lambda: sum(iter(changing.work, 0))

    def _do_chore(self, kind: AnyKind, chore: Callable[[Database], int]) -> int:
        done = chore(self._database)
        if done:
            self._broker.wake(kind.queue)
        return done

    def _wake(self) -> int:
        woken = self._database.run(lifecycle.wake_waiting())
        lanes = lanes_of(self._kinds)
        for queue in {lanes[lane].queue for lane in woken if lane in lanes}:
            self._broker.wake(queue)
        return sum(woken.values())

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._settings.work.lease_seconds)

    def _take_back(self) -> dict[str, int]:
        """Take items back whose leases ran out: lost with their machine or the system, or with their process alone."""
        machines = self._database.run(lifecycle.overdue_machines())
        if not machines:
            return {"recovered": 0, "crashed": 0}
        until = self._began and self._began + self._lease
        recovered = self._until_none(lifecycle.recover(until, self._lost(machines)))
        return {"recovered": recovered, "crashed": self._reap()}

    def _lost(self, machines: Sequence[str]) -> list[str]:
        """Return the machines of which no process was heard of lately; none while Redis is away."""
        others = [one for one in machines if one != machine()]
        try:
            lost = [one for one in others if not is_alive(self._broker.client, one)]
        except RedisError as error:
            logger.warning("machines not looked at", error=str(error))
            return []
        if lost:
            logger.warning("machines lost", machines=lost)
        return lost

    def _reap(self) -> int:
        crashed = 0

        def reap_one() -> bool:
            nonlocal crashed
            reaped = self._database.run(lifecycle.reap())
            if reaped is None:
                return False
            crashed += reaped.crashed
            logger.warning("items crashed", job_id=str(reaped.job_id), items=reaped.crashed)
            if reaped.job_state:
                self._close(reaped.job_id)
            return True

        self._repeat(reap_one)
        return crashed

    def _end_jobs(self, end: Callable[[], Statement[UUID | None]]) -> int:
        def end_one() -> bool:
            job_id = self._database.run(end())
            if job_id is not None:
                self._close(job_id)
            return job_id is not None

        return self._repeat(end_one)

    def _end_deletions(self) -> int:
        """Finish the deletions of jobs whose API process died or whose client left."""
        begun = self._database.run(lifecycle.find_being_deleted(DELETION_TAKES))
        return sum(self._tried(partial(self._end_deletion, *job)) for job in begun)

    def _end_deletion(self, job_id: UUID, account_id: UUID) -> int:
        while self._database.run(lifecycle.erase(job_id, account_id)).goes_on:
            pass
        self._artifacts.delete_results(job_id)
        self._artifacts.delete_upload(job_id)
        return int(self._database.run(lifecycle.erased(job_id)))

    def _repeat(self, step: Callable[[], bool]) -> int:
        """Repeat a step, a transaction each, until it finds nothing; returns the number of repetitions."""
        return next((number for number in range(MOST_JOBS) if not step()), MOST_JOBS)

    def _close(self, job_id: UUID) -> None:
        for failure in close_job(self._broker.send, self._artifacts, job_id):
            logger.warning("job ended, not all cleaned up", job_id=str(job_id), error=failure)

    def _keep_house(self) -> dict[str, int]:
        """Repeat each statement of ours and the kinds until it finds nothing; returns the rows deleted."""
        delivery_days = timedelta(days=self._settings.retention.delivery_days)
        samples = forget_samples(timedelta(days=self._settings.retention.sample_days))
        deliveries = forget_deliveries(older_than=delivery_days, limit=lifecycle.SWEEP_ROWS)
        events = forget_events(
            older_than=timedelta(days=self._settings.retention.audit_days), limit=lifecycle.SWEEP_ROWS
        )
        statements = {
            name: statement
            for kind in self._kinds.values()
            for name, statement in kind.housekeeping(self._settings).items()
        } | {
            "deliveries": deliveries,
            "samples": samples,
            "uploads": forget_uploads(lifecycle.SWEEP_ROWS),
            "audit_events": events,
            "mails": forget_mails(older_than=delivery_days, limit=lifecycle.SWEEP_ROWS),
        }
        return {name: self._until_none(one) for name, one in statements.items()}

    def _until_none(self, statement: Statement[int]) -> int:
        return sum(iter(partial(self._database.run, statement), 0))

    def _retire(self) -> int:
        """Drop the functions of unused versions; none while a process does not report its version."""
        try:
            running = read_processes(self._broker.client.hgetall(HASH))
        except RedisError as error:
            logger.warning("functions of other versions not looked at", error=str(error))
            return 0
        if any(one.schema is None for one in running):
            return 0
        used = {lifecycle.SCHEMA, *(one.schema for one in running if one.schema)}
        dropped = self._database.run(lifecycle.retire(used, timedelta(days=self._settings.retention.function_days)))
        return len(dropped)

    def _delete_files(self) -> dict[str, int]:
        """Delete expired files; the next sweep retries failures."""
        return {
            "artifacts_deleted": self._tried(self._delete_expired),
            "uploads_deleted": self._tried(self._delete_uploads),
        }

    def _delete_expired(self) -> int:
        kept = self._database.run(lifecycle.find_kept())
        return self._artifacts.delete_expired(datetime.now(UTC).date(), kept=kept)

    def _delete_uploads(self) -> int:
        old = self._artifacts.orphaned_uploads(timedelta(minutes=self._settings.work.upload_orphan_minutes))
        wanted = {*self._database.run(find_open(old)), *self._database.run(find_uploads(old))}
        orphans = [job_id for job_id in old if job_id not in wanted]
        return sum(self._tried(partial(self._delete_upload, job_id)) for job_id in orphans)

    def _delete_upload(self, job_id: UUID) -> int:
        self._artifacts.delete_upload(job_id)
        return 1

    def _tried(self, step: Callable[[], int]) -> int:
        try:
            return step()
        except PressroomError as error:
            logger.warning("files not deleted", error=error.message)
            return 0


def sweep(
    forever: Annotated[bool, typer.Option("--forever", help="Repeat about once a second.")] = False, data: Data = None
) -> None:
    """Handle due items, dead workers, deadlines and expired results, once or for ever."""
    settings = settings_of_running(settings_for(data))
    database_url, redis_url = settings.server_urls()
    log.configure(settings)
    if forever:
        die_with_parent()
    with Database(database_url, connections=CONNECTIONS) as database:
        sweeper = Sweep(
            database, WakeBroker(connect(redis_url)), Artifacts(open_store(settings)), load_kinds(settings), settings
        )
        if not forever:
            for name, number in sweeper.once().items():
                typer.echo(f"{name} {number}")
            for name, chore in sweeper.chores.items():
                typer.echo(f"{name} {chore()}")
            return
        ProcessReporter(lambda: "sweep", settings).start(connect(redis_url))
        if is_supervised():
            scaler = Autoscaler(settings.data, database, load_kinds(settings))
            threading.Thread(target=partial(_repeat, "scaling", scaler.look, SCALE_SECONDS), daemon=True).start()
        for name, chore in sweeper.chores.items():
            work = partial(_repeat, name, chore, settings.work.sweep_seconds)
            threading.Thread(target=work, name=name, daemon=True).start()
        _repeat("sweep", sweeper.step, settings.work.sweep_seconds)


def _repeat(name: str, work: Callable[[], object], pause_seconds: float) -> NoReturn:
    """Repeat some work for ever; failures are retried."""
    while True:
        with log.errors_logged(logger, f"{name} failed"):
            try:
                work()
            except (PressroomError, psycopg.Error, RedisError, OSError) as error:
                logger.warning(f"{name} put off", error=str(error))
        time.sleep(pause_seconds)


register = under(SYSTEM, sweep)
