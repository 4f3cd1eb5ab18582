"""A site for storms: a whole system, whose PostgreSQL, Redis and API are each reached through a proxy of our own."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import redis
import tools
from mixed_load import MixedLoad, made_up, real_kinds
from search_engine import search_engine
from servers import PATIENCE_SECONDS, ping, stop, wait_until
from settable_clock import SettableClock, settable_clock
from systems import FAST, Running, system
from tcp_proxy import TcpProxy
from waiting import wait_for
from webhook_receiver import Receiver, webhook_receiver

from pipeline.database import Database
from pipeline.operations.child_processes import shimmed
from pipeline.operations.supervision import sockets_folder
from scripts.system.embedded import postgres
from scripts.system.embedded import redis as embedded_redis
from scripts.system.embedded.postgres import create_database
from scripts.system.embedded.roles import OWNER, ROLE
from scripts.system.programs import Server, environment

#: Size of a disk in memory, which takes only the used part.
DISK_BYTES = 8 * 2**30
MOST_TRIES = 20

#: The environment of every process, with a short lease so that a dead worker's work comes back in seconds.
SETTINGS = FAST | {
    "PRESSROOM_API__PROCESSES": "2",
    "PRESSROOM_SYNTHESIS__ENGINES": "hibari,espeak",
    "PRESSROOM_CAPTIONING__ENGINES": "basic",
    "PRESSROOM_METADATA__ENGINES": "extractive",
    "PRESSROOM_PICTURES__ENGINES": "drawn",
    "PRESSROOM_TRANSCRIPTION__ENGINES": "whisper",
    "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
    "PRESSROOM_SEARCH__FRESH_DAYS": "0",
    "OMP_NUM_THREADS": "1",
}


class OwnServer:
    """A server that a test kills, stops and starts again."""

    def __init__(self, server: Server, folder: Path, probe: Callable[[], None], extra: Mapping[str, str]) -> None:
        self._server = server
        self._probe = probe
        self._extra = extra
        self._log = folder / f"{server.name}-own.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; return when it answers."""
        self.launch()
        assert self.process
        wait_until(self._probe, self.process, self._log)

    def launch(self) -> None:
        """Start it, and wait for nothing."""
        with self._log.open("ab") as output:
            self.process = subprocess.Popen(
                shimmed(self._server.argv, sent=self._server.stopped_by),
                env=environment() | dict(self._extra),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        """Return its process."""
        assert self.process
        return self.process.pid

    def kill(self, sent: signal.Signals = signal.SIGKILL) -> None:
        """End it by a signal; return when it has ended."""
        os.kill(self.pid, sent)
        assert self.process
        self.process.wait(timeout=PATIENCE_SECONDS)

    def has_ended(self) -> bool:
        """Say whether it has ended by itself."""
        return self.process is None or self.process.poll() is not None

    def close(self) -> None:
        """Stop it."""
        if self.process and self.process.poll() is None:
            os.kill(self.pid, signal.SIGCONT)
            stop(self.process, self._server.stopped_by)


@dataclass(frozen=True)
class Disk:
    """A file system of its own, which can be made full; without the right to mount one, an ordinary folder."""

    folder: Path
    is_own: bool

    def fill(self) -> bool:
        """Leave no byte free; return whether it is full. What is written or deleted meanwhile takes another try."""
        for _ in range(MOST_TRIES):
            found = os.statvfs(self.folder)
            self._resize((found.f_blocks - found.f_bfree) * found.f_frsize)
            if os.statvfs(self.folder).f_bavail == 0:
                return True
        return False

    def empty(self) -> None:
        """Give the space back."""
        assert self._resize(DISK_BYTES), "the disk could not be made larger"

    def _resize(self, size: int) -> bool:
        resize = ["mount", "-o", f"remount,size={size}", str(self.folder)]
        return not subprocess.call(resize, stderr=subprocess.DEVNULL)


@contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """Mount a file system until the block ends, where that is permitted; after an error a copy of it is kept."""
    folder.mkdir(mode=0o755, parents=True)
    mounted = os.geteuid() == 0 and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "none", str(folder)], stderr=subprocess.DEVNULL
    )
    if not mounted:
        tools.do_without("mount", "this user may not mount a file system")
    try:
        yield Disk(folder, mounted)
    except BaseException:
        if mounted:
            with suppress(OSError):  # such as a socket among the files; the error that is raised counts
                print(f"kept: {shutil.copytree(folder, folder.with_name(f'{folder.name}-kept'), symlinks=True)}")
        raise
    finally:
        if mounted:
            subprocess.call(["umount", "--lazy", str(folder)])


@dataclass
class Site:
    """Everything that a fault can strike."""

    running: Running
    load: MixedLoad
    postgres: OwnServer
    redis: OwnServer
    database_url: str
    redis_url: str
    database_proxy: TcpProxy
    redis_proxy: TcpProxy
    api_proxy: TcpProxy
    database_disk: Disk
    artifact_disk: Disk
    receiver: Receiver
    clock: SettableClock

    def database(self) -> Database:
        """Return the database, reached past the proxy."""
        return Database(self.database_url)

    def client(self) -> "redis.Redis":
        """Return Redis, reached past the proxy."""
        return redis.Redis.from_url(self.redis_url, socket_timeout=10)


@contextmanager
def storm_site(folder: Path, *, clients: int = 3) -> Iterator[Site]:
    """Run a site under mixed load until the block ends."""
    with ExitStack() as held:
        # Another user, who runs PostgreSQL, must reach the clock's library.
        open_folder = Path(tempfile.mkdtemp(prefix="pressroom-storm-"))
        held.callback(shutil.rmtree, open_folder, ignore_errors=True)
        open_folder.chmod(0o755)
        clock = held.enter_context(settable_clock(open_folder))
        database_disk = held.enter_context(disk(folder / "database"))
        artifact_disk = held.enter_context(disk(folder / "artifacts"))
        own = {
            "postgres": postgres.server(database_disk.folder / "data"),
            "redis": embedded_redis.server(folder / "redis-data"),
        }
        (folder / "redis-data").mkdir()
        probes = {
            "postgres": lambda: create_database(own["postgres"].url),
            "redis": lambda: ping(own["redis"].url),
        }
        servers = {name: OwnServer(one, folder, probes[name], clock.environment) for name, one in own.items()}
        for one in servers.values():
            held.callback(one.close)
            one.start()
        sockets = sockets_folder(database_disk.folder / "data") / "postgres" / ".s.PGSQL.5432"
        database_proxy = held.enter_context(TcpProxy(str(sockets)))
        redis_proxy = held.enter_context(TcpProxy(own["redis"].url.removeprefix("unix://")))
        engine = held.enter_context(search_engine())
        receiver = held.enter_context(webhook_receiver())
        extra = SETTINGS | engine.environment() | clock.environment
        extra["DATABASE_URL"] = f"postgresql://{OWNER}@127.0.0.1:{database_proxy.port}/{OWNER}"
        extra["REDIS_URL"] = f"redis://127.0.0.1:{redis_proxy.port}/0"
        extra["PRESSROOM_STORE__URL"] = str(artifact_disk.folder)
        running = held.enter_context(system(folder / "data", "--pool", "made_up=2", extra=extra))
        _ = running.key
        wait_for_offers(running)
        api_proxy = held.enter_context(TcpProxy(int(running.address.rpartition(":")[2])))
        running.address = f"http://127.0.0.1:{api_proxy.port}"
        load = held.enter_context(
            MixedLoad(running, [made_up()] * clients + real_kinds(engine), webhook=quote(receiver.url, safe=":/"))
        )
        yield Site(
            running,
            load,
            servers["postgres"],
            servers["redis"],
            own["postgres"].url.replace(ROLE, OWNER),
            own["redis"].url,
            database_proxy,
            redis_proxy,
            api_proxy,
            database_disk,
            artifact_disk,
            receiver,
            clock,
        )


def wait_for_offers(running: Running) -> None:
    """Return once every pool is ready: an API process may not know yet what is offered."""
    wait_for(
        lambda: running.written().count("pool process ready") >= 6,
        seconds=PATIENCE_SECONDS,
        about=lambda: running.written()[-3_000:],
    )
