"""Processes of the search_check pool, in threads of the test's own."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from payers import Payer
from waiting import wait_for
from workbench import submission

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.check import IndexCheckHandler
from capabilities.index_check.handlers.submit import IndexSubmitHandler
from capabilities.index_check.kinds.index_check import IndexCheck, IndexSubmit
from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import RESTING
from capabilities.index_check.requests.request import IndexCheckRequest, with_lanes
from capabilities.index_check.results.urls import UrlRecord
from capabilities.index_check.sites.connections import sites_of
from pipeline import lifecycle
from pipeline.database import Database
from pipeline.kind import as_json, as_rows
from pipeline.lifecycle.jobs import Item, Job, find_items, find_job
from pipeline.operations.metrics import Metrics
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker, connect
from workers.engines.resources import Resources
from workers.handler import Task
from workers.pool.run import Runner

HERE, GONE = "https://e.example/here", "https://e.example/gone"


class Pool:
    """Processes of the pool, and a way to give them URLs."""

    kind: IndexCheck = IndexCheck()
    handler: Any = IndexCheckHandler
    type = "check"

    def __init__(
        self, database: Database, redis_url: str, folder: Path, payer: Payer, url: str, **settings: Any
    ) -> None:
        self.url = url
        self.settings = Settings(data=folder, work={"heartbeat_seconds": 0.1, "drain_seconds": 1}, **settings)
        self.database, self.payer = database, payer
        self.redis = connect(redis_url)
        self.handlers: list[Any] = []
        self.runners: list[Runner] = []
        self.runner = self.start()

    def start(self) -> Runner:
        """Return one more process, as after a restart."""
        handler = self.handler(Resources(self.settings))
        self.handlers.append(handler)
        kinds = {self.kind.name: self.kind}
        runner = Runner(
            "search_check",
            kinds,
            dict.fromkeys(kinds, handler),
            database=self.database,
            broker=WakeBroker(self.redis),
            artifacts=Artifacts(open_store(self.settings)),
            settings=self.settings,
            metrics=Metrics(),
        )
        runner.setup()
        self.runners.append(runner)
        return runner

    def close(self) -> None:
        """End all processes. A runner tells Redis from a thread of its own: the connection is closed after that."""
        for runner in self.runners:
            runner.stop()
            runner.drain()
        self.redis.close()
        for handler in self.handlers:
            handler.close()

    def submit(self, *urls: str, payer: Payer | None = None, **asked: Any) -> UUID:
        """Make a job as the route does; `asked` are further fields of the request."""
        payer = payer or self.payer
        request = IndexCheckRequest(type=self.type, urls=list(urls), **asked)
        sites = self.database.run(sites_of(payer.account_id)) if self.type == "check" else []
        asked_for = submission(
            payer,
            kind=self.kind.name,
            route="/indexing/jobs",
            request={},
            items=with_lanes(as_rows(self.kind.items(request)), request, sites),
            deadline=timedelta(days=7),
            keep_for=timedelta(days=30),
            slice_size=self.kind.limits.slice_size,
        )
        assert self.database.run(lifecycle.submit(asked_for)).outcome == "accepted"
        return asked_for.job_id

    def job(self, job_id: UUID) -> Job:
        found = self.database.run(find_job(job_id))
        assert found is not None
        return found

    def items(self, job_id: UUID) -> list[Item]:
        return self.database.run(find_items(job_id))

    def drain(self, until: Callable[[], Any]) -> None:
        """Work, with the sweep's help, until something holds."""

        def work() -> Any:
            self.database.run(lifecycle.wake_waiting())
            self.runner.drain()
            return until()

        if not until():
            wait_for(work)

    def finish(self, *job_ids: UUID) -> list[Item]:
        """Work until jobs have ended, and return the items of the first."""
        self.drain(lambda: all(self.job(job_id).is_final for job_id in job_ids))
        return self.items(job_ids[0])

    def check(self, *urls: str, **asked: Any) -> list[Item]:
        """Have URLs checked, and return their items once all have ended."""
        return self.finish(self.submit(*urls, **asked))

    def holds(self) -> list[Task]:
        """Return what the first process works on."""
        return [task for run in self.runner._heartbeat.held() for task in run.tasks]

    def provider(self, name: str) -> Provider:
        """Return a provider as the newest process has it."""
        found: Provider = self.handlers[-1]._providers[name]
        return found

    def rests(self, provider: str) -> timedelta | None:
        """Return how long a provider's breaker stays open, None when it is closed."""
        name = self.provider(provider).pace_name
        status = self.database.run(pacing.look([name])).providers[name]
        return status.wait if status.state in RESTING else None

    def query(self, sql: str, *values: Any) -> Any:
        """Return the first value that a statement gives; None where it gives none."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None


class SubmitPool(Pool):
    """A process that submits URLs."""

    kind = IndexSubmit()
    handler = IndexSubmitHandler
    type = "submit"

    def tell(self, *urls: str, **asked: Any) -> tuple[Job, list[Item]]:
        """Have URLs submitted, and return their job and items once all have ended."""
        job_id = self.submit(*urls, **asked)
        items = self.finish(job_id)
        return self.job(job_id), items


Start = Callable[..., Pool]


def raw_result_of(item: Item) -> dict[str, Any]:
    """Return what a URL's record says was found out."""
    return as_json(UrlRecord.of(item))["raw_result"] or {}


def reason_of(item: Item) -> str | None:
    return raw_result_of(item).get("reason")


def reasons(items: list[Item]) -> list[str | None]:
    return [reason_of(item) for item in items]


def codes(items: list[Item]) -> set[str]:
    return {raw_result_of(item)["code"] for item in items}
