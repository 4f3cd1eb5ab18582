"""Catalogue: the peers, how each is run, and what its documents promise when a worker is killed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
#: Programs that run in the peers' environments.
PROGRAMS = FOLDER / "programs"
API_PROCESSES = 2
#: Threads of an API process whose requests block until their job has ended; 256 clients meet two processes.
THREADS = 160

#: The command of each kind of front, after the environment's Python; the address is added.
WSGI = ("-m", "gunicorn", "--worker-class=gthread", f"--workers={API_PROCESSES}", f"--threads={THREADS}",
        "--no-control-socket", "--keep-alive=60", "--bind")  # fmt: skip
ASGI = ("-m", "uvicorn", f"--workers={API_PROCESSES}", "--loop=uvloop", "--http=httptools", "--no-access-log",
        "--log-level=warning", "--port")  # fmt: skip


@dataclass(frozen=True)
class Peer:
    """A job queue; commands follow its environment's Python.

    `promise`, `settings`, `keeps` and `by_default` are for readers of docs/benchmarks.md."""

    name: str
    front: tuple[str, ...]
    worker: tuple[str, ...]
    promise: str
    settings: str
    keeps: str = "Redis"
    setup: tuple[tuple[str, ...], ...] = ()
    #: More of the worker's environment.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Its less safe default, which is measured too; empty if it has none.
    by_default: str = ""

    @property
    def module(self) -> str:
        """The name of its program."""
        return f"{self.name}_peer"

    @property
    def requirements(self) -> Path:
        """Where what it needs is pinned."""
        return FOLDER / "requirements" / f"{self.name}.txt"

    @property
    def version(self) -> str:
        """The version that is pinned."""
        lines = self.requirements.read_text().splitlines()
        return next(line.partition("==")[2] for line in lines if line.startswith(f"{self.name}=="))


PEERS = (
    Peer(
        "celery",
        front=WSGI,
        worker=(
            "-m",
            "celery",
            "--app=celery_peer:celery",
            "worker",
            "--loglevel=warning",
            "--without-gossip",
            "--without-mingle",
            "--concurrency=2",
        ),
        promise=(
            "with `acks_late` and `reject_on_worker_lost` a task is delivered again once `visibility_timeout` (an "
            "hour) has passed, and may run twice"
        ),
        settings=(
            "prefork pool of 2, `task_acks_late`, `task_reject_on_worker_lost`, `worker_prefetch_multiplier=1`, "
            "`visibility_timeout` of 4 s, gossip and mingle off; Flask waits in `AsyncResult.get()`"
        ),
        by_default="a message is acknowledged before its task runs, so that none runs twice",
    ),
    Peer(
        "rq",
        front=WSGI,
        worker=("-m", "rq.cli", "worker", "--quiet", "--maintenance-interval=1", "--job-monitoring-interval=1", "peer"),
        promise=(
            "with `Retry` the job of a dead worker is put back when its heartbeat has expired, 60 s after the last, "
            "and may run twice"
        ),
        settings=(
            "a process is forked for each job, as its Worker does by default; `Retry(max=5)`, maintenance each "
            "second; Flask waits in `Job.latest_result()`"
        ),
        by_default="the job of a dead worker is failed",
    ),
    Peer(
        "arq",
        front=ASGI,
        worker=("-m", "arq", "arq_peer.Worker", "--custom-log-dict=arq_peer.LOGS"),
        promise=(
            "a job stays in the queue until it has ended, may run more than once, and should be idempotent; that of a "
            "dead worker is taken up 10 s after `job_timeout` (300 s)"
        ),
        settings=(
            "`max_jobs` of 10 as by default, `poll_delay` of 2 ms (0.5 s by default), `job_timeout` of 4 s; Starlette "
            "looks for the result every 2 ms, less often when many wait"
        ),
    ),
    Peer(
        "taskiq",
        front=ASGI,
        worker=("-m", "taskiq", "worker", "taskiq_peer:broker", "--workers=1", "--log-level=WARNING"),
        promise=(
            "`RedisStreamBroker` acknowledges when the result is saved; what a dead worker had is claimed again after "
            "`idle_timeout` (ten minutes)"
        ),
        settings=(
            "`RedisStreamBroker`, 100 tasks at once as by default, `idle_timeout` and the lock's time-out 4 s; "
            "Starlette looks for the result every 2 ms, less often when many wait"
        ),
    ),
    Peer(
        "dramatiq",
        front=WSGI,
        worker=("-m", "dramatiq", "dramatiq_peer", "--processes=1", "--threads=8"),
        promise=(
            "messages are acknowledged after the actor, so delivered at least once; those of a dead worker are put "
            "back after `heartbeat_timeout` (60 s), by maintenance that runs at random"
        ),
        settings=(
            "8 threads as by default, `dramatiq_worker_timeout` of 5 ms (1 s by default), `heartbeat_timeout` of 4 s, "
            "maintenance at each command; the Results middleware in Redis, in which Flask waits"
        ),
        environment={"dramatiq_worker_timeout": "5"},
    ),
    Peer(
        "procrastinate",
        front=ASGI,
        worker=(
            "-m",
            "procrastinate",
            "--app=procrastinate_peer.queue",
            "--log-level=warning",
            "worker",
            "--concurrency=10",
        ),
        promise=(
            "jobs of dead workers are found by their heartbeat, 30 s old, and put back by a periodic task that the "
            "application writes; a job may run twice"
        ),
        settings=(
            "`--concurrency=10` (1 by default), heartbeat each second, stalled jobs put back every 2 s; the task "
            "writes its result into a table and notifies Starlette, in one statement"
        ),
        by_default="nothing puts back the jobs of dead workers",
        keeps="PostgreSQL",
        setup=(("procrastinate_peer.py",),),
    ),
    Peer(
        "pgqueuer",
        front=ASGI,
        worker=("pgqueuer_peer.py", "worker"),
        promise=(
            "at least once: a job whose heartbeat is older than `heartbeat_timeout` (30 s) is taken up by another "
            "worker"
        ),
        settings=(
            "asyncpg under uvloop, batches of 10 as by default, `heartbeat_timeout` of 4 s, durable tables; results "
            "as with procrastinate (its own `CompletionWatcher` learns of an end up to 0.15 s late)"
        ),
        keeps="PostgreSQL",
        setup=(("pgqueuer_peer.py",),),
    ),
)

#: Beside the others of PostgreSQL in `benchmarks/pinned.py`; docs/benchmarks.md is without it.
OBAN = Peer(
    "oban",
    front=ASGI,
    worker=("oban_peer.py", "worker"),
    promise="at least once: jobs of nodes that gave no sign of life for 60 s are put back each minute",
    settings="psycopg, 10 jobs at once, pool of 4 to 10; results as with procrastinate",
    keeps="PostgreSQL",
    setup=(("oban_peer.py",),),
)
