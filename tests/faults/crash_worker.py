"""The process under test: a pool's process, a sweep, or one that prepares a database."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import crash_points
from crash_points import Plan
from forks import become


def pool_process(environment: Mapping[str, str], queue: str, plan: Plan, report: Path, idle: bool = False) -> None:
    """Be a process of a pool until all jobs have ended, and then end as one that is told to; `idle`: there are none."""
    become(environment, report.with_suffix(".log"))
    import dramatiq

    from pipeline.database import Database, Statement
    from pipeline.settings import Settings
    from workers.main import open_broker
    from workers.pool.run import Runner

    points = crash_points.install(report)
    ready = threading.Event()

    def begin() -> None:
        points.arm(plan)
        ready.set()

    _after(Runner, "setup", begin)
    worker = dramatiq.Worker(open_broker(Settings()), queues={queue}, worker_threads=1, worker_timeout=100)
    worker.start()
    with points.aside(), Database(environment["DATABASE_URL"], connections=1) as database:
        ready.wait(120)
        while not idle and database.run(Statement("SELECT 1 FROM job WHERE finished_at IS NULL")):
            time.sleep(0.02)
    with points.aside():  # in this thread; those that end the work go on counting
        worker.stop()
    points.end()


def sweep_process(environment: Mapping[str, str], plan: Plan, report: Path) -> None:
    """Be a sweep that goes round once, chores included."""
    become(environment, report.with_suffix(".log"))
    from pipeline.database import Database
    from pipeline.registry import load_kinds
    from pipeline.settings import Settings
    from pipeline.storage.artifacts import Artifacts, open_store
    from pipeline.wakes.broker import WakeBroker, connect
    from scripts.commands.sweep import Sweep

    settings = Settings()
    points = crash_points.install(report)
    with Database(environment["DATABASE_URL"], connections=4) as database:
        sweep = Sweep(
            database,
            WakeBroker(connect(environment["REDIS_URL"])),
            Artifacts(open_store(settings)),
            load_kinds(settings),
            settings,
        )
        points.arm(plan)
        sweep.once()
        for chore in sweep.chores.values():
            chore()
        points.end()


def prepare_process(environment: Mapping[str, str], plan: Plan, report: Path) -> None:
    """Be the process that prepares the database of a system that starts."""
    become(environment, report.with_suffix(".log"))
    import pipeline.accounts.accounts  # noqa: F401  before the calls that count
    from pipeline.settings import Settings
    from scripts.system.prepare import prepare

    points = crash_points.install(report)
    points.arm(plan)
    prepare(Settings(), "http://127.0.0.1:8000")
    points.end()


def _after(owner: type, name: str, then: Callable[[], None]) -> None:
    method = getattr(owner, name)

    def followed(self: Any) -> Any:
        result = method(self)
        then()
        return result

    setattr(owner, name, followed)
