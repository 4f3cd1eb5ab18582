"""The process under test: a pool's process or a sweep, forked from one that has imported all it needs.

`multiprocessing`'s fork server is that one: a process of a pool is ready in a tenth of the time that Python takes.
"""

import faulthandler
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import crash_points
from crash_points import Plan, is_long

#: Modules that the processes need, imported once; without `workers.main`, which opens each process's own connections.
WARM = (
    "api.app",
    "api.server",
    "bs4",
    "capabilities.index_check.handlers.check",
    "capabilities.speech.handlers.speech",
    "crash_api",
    "crash_worker",
    "dramatiq",
    "gunicorn.app.wsgiapp",
    "lxml.html",
    "pipeline.operations.processes",
    "scripts.commands.sweep",
    "workers.pool.run",
    "workers.webhooks.sender",
)
#: What the processes of all kinds need as well.
WARM_FOR_ALL = (
    "capabilities.alt_text.handlers.alt_text",
    "capabilities.blog.handlers.blog",
    "capabilities.index_check.handlers.submit",
    "capabilities.speech.handlers.batch",
    "capabilities.speech.handlers.music",
    "capabilities.speech.handlers.stream",
    "capabilities.transcription.handlers.stream",
    "capabilities.transcription.handlers.transcription",
    "faster_whisper",
    "imageio_ffmpeg",
    "rapidocr",
)

#: Held while a process is asked for its exit code, or one is started, which asks all others. CPython reads the code
#: from a pipe: of two threads that read at once, the second finds the pipe at its end, and keeps 255.
_ASKING = threading.Lock()


@cache
def _server() -> Any:
    """Return the context whose processes are forked from a warm one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*WARM, *(WARM_FOR_ALL if is_long() else ())])
    return context


@contextmanager
def forked(target: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    """Run a process until the block ends."""
    process = _server().Process(target=target, args=arguments, daemon=True)
    with _ASKING:
        process.start()
    try:
        yield process
    finally:
        if ended(process) is None:
            os.kill(process.pid, signal.SIGQUIT)  # gunicorn then waits for nobody
        ended(process, 60)
        with _ASKING:
            process.close()


def pool_process(environment: Mapping[str, str], queue: str, plan: Plan, report: Path, idle: bool = False) -> None:
    """Be a process of a pool until all jobs have ended, and then end as one that is told to; `idle`: there are none."""
    become(environment, report)
    import dramatiq

    from pipeline.database import Database, Statement
    from workers import main
    from workers.pool.run import Runner

    points = crash_points.install(report)
    ready = threading.Event()

    def begin() -> None:
        points.arm(plan)
        ready.set()

    _after(Runner, "setup", begin)
    worker = dramatiq.Worker(main.broker, queues={queue}, worker_threads=1, worker_timeout=100)
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
    become(environment, report)
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
    become(environment, report)
    import pipeline.accounts.accounts  # noqa: F401  before the calls that count
    from pipeline.settings import Settings
    from scripts.system.prepare import prepare

    points = crash_points.install(report)
    points.arm(plan)
    prepare(Settings(), "http://127.0.0.1:8000")
    points.end()


def become(environment: Mapping[str, str], report: Path) -> None:
    """Take on an environment and a log of its own."""
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    tempfile.gettempdir()  # Python tries it once, by a file of four bytes; before the calls that count
    output = os.open(report.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.enable()  # one that dies of itself says where
    faulthandler.register(signal.SIGUSR1)


def ended(process: Any, seconds: float = 0) -> int | None:
    """Wait so long for a process to end; return its exit code, None where it has not ended."""
    wait([process.sentinel], seconds)
    with _ASKING:
        status: int | None = process.exitcode
    return status


def join(process: Any, seconds: float) -> int | None:
    """Return a process's exit code; one that does not end says in its log where each of its threads is."""
    status = ended(process, seconds)
    if status is None:
        os.kill(process.pid, signal.SIGUSR1)
        status = ended(process, 1)
    return status


def _after(owner: type, name: str, then: Callable[[], None]) -> None:
    method = getattr(owner, name)

    def followed(self: Any) -> Any:
        result = method(self)
        then()
        return result

    setattr(owner, name, followed)
