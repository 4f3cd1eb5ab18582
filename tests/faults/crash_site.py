"""A site for crash points: the servers, the engines of all kinds, and a database with one job for each kind.

Each run gets copies of its kind's database and files, and a Redis database of its own, so that runs are alike and can
go side by side; what is left after one is its own.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import psycopg
import redis
import tiny_whisper
from crash_api import crashing_api
from crash_points import Plan
from crash_worker import pool_process
from forks import forked, join
from http_service import form
from payers import Payer, open_account
from PIL import Image
from search_engine import SearchEngine, search_engine
from told_engines import ToldEngines, told_engines
from web_server import web_server
from webhook_receiver import Receiver, webhook_receiver

from pipeline import lifecycle
from pipeline.capabilities import parts
from pipeline.database import Database, Statement
from pipeline.kind import AnyKind
from pipeline.registry import Kinds, queues
from pipeline.settings import Settings
from scripts.system.programs import environment

#: Runs at once; Redis has 16 databases, and waiting for leases and for each other costs no processor.
SLOTS = 4
FILES: dict[str, Path] = {name: path for part in parts("demo") for name, path in getattr(part, "FILES", {}).items()}
SERVED: dict[str, Path] = {url: path for part in parts("demo") for url, path in getattr(part, "SERVED", {}).items()}


@dataclass
class Copy:
    """A system of one run's own: its databases and folders."""

    database_url: str
    redis_url: str
    folder: Path
    environment: Mapping[str, str]

    @property
    def settings(self) -> Settings:
        """The settings that its processes have."""
        return Settings(data=self.folder / "data", database_url=self.database_url, redis_url=self.redis_url)

    @property
    def temporary(self) -> Path:
        """Where its processes have their temporary files."""
        return self.folder / "tmp"

    def files(self) -> list[str]:
        """Return all files of the artifact store, incomplete ones too."""
        store = self.folder / "data" / "artifacts"
        return sorted(str(found.relative_to(store)) for found in store.rglob("*") if found.is_file())


@dataclass
class Site:
    """The parts that all runs share."""

    postgres_url: str
    redis_url: str
    folder: Path
    template: str
    kinds: Kinds
    common: Mapping[str, str]
    receiver: Receiver
    slots: "SimpleQueue[int]" = field(default_factory=SimpleQueue)
    #: The job of each kind, and who pays for it.
    jobs: dict[str, UUID] = field(default_factory=dict)
    payer: Payer | None = None

    def named(self, database: str) -> str:
        """Return the URL of a database."""
        return urlunsplit(urlsplit(self.postgres_url)._replace(path=f"/{database}"))

    @contextmanager
    def copy(self, of: str) -> Iterator[Copy]:
        """Make a copy of a database and its files, which is gone after the block."""
        slot = self.slots.get()
        name = f"crash_{uuid4().hex[:12]}"
        folder = self.folder / name
        try:
            self.make(name, of)
            if (self.folder / of).exists():
                shutil.copytree(self.folder / of, folder)
            for part in ("data/artifacts", "tmp"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            yield self.system(name, folder, slot)
        finally:
            with psycopg.connect(self.postgres_url, autocommit=True) as server:
                server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            shutil.rmtree(folder, ignore_errors=True)
            self.slots.put(slot)

    def make(self, name: str, of: str) -> None:
        """Copy a database."""
        with psycopg.connect(self.postgres_url, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name} TEMPLATE {of}")

    def system(self, name: str, folder: Path, slot: int = 0) -> Copy:
        """Return a system with an empty Redis."""
        redis_url = f"{self.redis_url}{'&' if '?' in self.redis_url else '?'}db={slot}"
        with redis.Redis.from_url(redis_url) as client:
            client.flushdb()
        own = {
            "DATABASE_URL": self.named(name),
            "REDIS_URL": redis_url,
            "PRESSROOM_DATA": str(folder / "data"),
            "TMPDIR": str(folder / "tmp"),
        }
        return Copy(self.named(name), redis_url, folder, {**environment(extra=self.common), **own})


def copy_of_database(database_url: str, redis_url: str, folder: Path, extra: Mapping[str, str]) -> Copy:
    """Return a system of a database that is nobody else's."""
    (folder / "data" / "artifacts").mkdir(parents=True)
    own = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "PRESSROOM_DATA": str(folder / "data")}
    return Copy(database_url, redis_url, folder, {**environment(extra=extra), **own})


@contextmanager
def crash_site(make_database: Callable[[], str], redis_url: str, folder: Path, kinds: Kinds) -> Iterator[Site]:
    """Set up everything, with a job for each of these kinds submitted over HTTP; nothing is left after the block."""
    with ExitStack() as stack:
        search = stack.enter_context(search_engine())
        told = stack.enter_context(told_engines())
        web = stack.enter_context(web_server())
        receiver = stack.enter_context(webhook_receiver())
        local = {url: web.serve(f"/{path.name}", _content(path)) for url, path in SERVED.items()}
        local["https://www.example.com/"] = told.urls(1)[0]  # the last: others begin with it
        common = _settings(search, told) | _whisper(kinds, folder)
        before = {name: os.environ.get(name) for name in common}
        os.environ.update(common)
        stack.callback(_restore, before)
        url = make_database()
        site = Site(url, redis_url, folder, urlsplit(url).path[1:], kinds, common, receiver)
        for slot in range(1, SLOTS + 1):
            site.slots.put(slot)
        _submit_all(site, local)
        yield site


def _content(example: Path) -> bytes:
    """Return an example's file, or a picture in its place that is described in no time."""
    if example.suffix not in (".png", ".jpg"):
        return example.read_bytes()
    content = BytesIO()
    Image.new("RGB", (64, 48), "navy").save(content, "PNG")
    return content.getvalue()


def _settings(search: SearchEngine, told: ToldEngines) -> dict[str, str]:
    submission = told.settings()["submission"]["indexnow"]
    told.files[told.here, f"/{submission['key']}.txt"] = submission["key"]
    return {
        **search.environment(),
        "PRESSROOM_SYNTHESIS__ENGINES": "espeak",
        "PRESSROOM_CAPTIONING__ENGINES": "basic",
        "PRESSROOM_METADATA__ENGINES": "extractive",
        "PRESSROOM_PICTURES__ENGINES": "drawn",
        "PRESSROOM_MODELS__DOWNLOAD": "never",
        "PRESSROOM_MARKS__ENABLED": "false",  # a mark has the time and a number of its own, so no two files are alike
        "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
        "PRESSROOM_SUBMISSION__INDEXNOW__URL": submission["url"],
        "PRESSROOM_SUBMISSION__INDEXNOW__KEY": submission["key"],
        "PRESSROOM_SUBMISSION__WAIT_SECONDS": "0.1",
        "PRESSROOM_LIMITS__ENTERPRISE__PER_MINUTE": "0",
        "PRESSROOM_WORK__HEARTBEAT_SECONDS": "0.03",  # so that also the shortest work has one
        #: Nobody waits for a lease: a run makes that of a dead process end.
        "PRESSROOM_WORK__LEASE_SECONDS": "3600",
        # All copies are of jobs that were made at the start: on a slow machine the last one is struck hours later.
        "PRESSROOM_WORK__DEADLINE_HOURS": "24",
        "PRESSROOM_WORK__UPLOAD_ORPHAN_MINUTES": "0",
        "PRESSROOM_LOG_FORMAT": "json",
        "OMP_NUM_THREADS": "1",
    }


def _whisper(kinds: Kinds, folder: Path) -> dict[str, str]:
    """Return the settings of a tiny Whisper, where it is needed: it takes seconds to build."""
    if "transcription" not in queues(kinds):
        return {}
    return {
        "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL": str(tiny_whisper.build(folder / "whisper")),
        "PRESSROOM_TRANSCRIPTION__WHISPER__DEVICE": "cpu",
        "PRESSROOM_TRANSCRIPTION__WHISPER__CPU_THREADS": "1",
    }


def _restore(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def _submit_all(site: Site, local: Mapping[str, str]) -> None:
    """Submit the example of each kind; each kind then has a database in which it alone is open."""
    folder = site.folder / "seed"
    (folder / "tmp").mkdir(parents=True)
    seed = site.system(site.template, folder)
    with Database(seed.database_url) as database:
        site.payer = open_account(database, credits=10_000)
        _publish_offers(site, seed, database)
        with crashing_api(folder, seed.environment) as api:
            for kind in site.kinds.values():
                path, body, headers = request_of(kind, local, url=site.receiver.url)
                answer = api.ask("POST", path, body, {"X-API-Key": site.payer.api_key, **headers})
                assert answer.status in (201, 202), (kind.name, answer.status, answer.body)
                site.jobs[kind.name] = UUID(answer.headers["x-job-id"])
    for kind_name, job_id in site.jobs.items():
        site.make(f"crash_of_{kind_name}", site.template)
        with Database(site.named(f"crash_of_{kind_name}"), connections=1) as database:
            for other in set(site.jobs.values()) - {job_id}:
                database.run(lifecycle.cancel(other, site.payer.account_id))
            database.run(Statement("DELETE FROM webhook_delivery WHERE true RETURNING 1"))
        uploads = folder / "data" / "artifacts" / "uploads" / str(job_id)
        kept = site.folder / f"crash_of_{kind_name}" / "data"
        kept.mkdir(parents=True)
        if uploads.exists():
            shutil.copytree(uploads, kept / "artifacts" / "uploads" / str(job_id))
        for file in (folder / "data").iterdir():
            if file.is_file():
                shutil.copy(file, kept)


def _publish_offers(site: Site, seed: Copy, database: Database) -> None:
    """Let a process of each pool tell what it offers; without jobs it ends at once when it is ready."""
    for queue in queues(site.kinds):
        before = len(database.run(Statement("SELECT 1 FROM offer")))
        report = seed.folder / f"{queue}.json"
        with forked(pool_process, seed.environment, queue, Plan(), report, True) as process:
            assert join(process, 120) == 0, report.with_suffix(".log").read_text()[-5_000:]
        assert len(database.run(Statement("SELECT 1 FROM offer"))) > before, queue


def request_of(kind: AnyKind, local: Mapping[str, str], *, url: str) -> tuple[str, bytes, dict[str, str]]:
    """Return the path, body and headers of a kind's example, with addresses of this machine, and a webhook."""
    text = json.dumps(dict(kind.example))
    for address, here in local.items():
        text = text.replace(address, here)
    own = json.loads(text)
    path = kind.routes[0] if kind.routes else "/indexing/jobs"
    own["webhook_url"] = url
    asked = {"Prefer": "respond-async"}
    if not kind.files:
        return path, json.dumps(own).encode(), {"Content-Type": "application/json", **asked}
    fields = [(name, str(value).encode(), None) for name, value in own.items() if name not in kind.files]
    files = [(name, FILES[name].read_bytes(), f"{name}.ogg") for name in own if name in kind.files]
    body, content_type = form(*fields, *files)
    return path, body, {"Content-Type": content_type, **asked}
