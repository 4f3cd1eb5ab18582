"""Up: runs a whole system on one machine, under one supervisor."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import accumulate
from typing import Any, NoReturn

from pipeline.accounts.first_account import FirstAccount
from pipeline.accounts.secret_box import SecretBox
from pipeline.errors import NotFound, NotReady
from pipeline.operations.supervision import Pool
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from scripts.console import Console
from scripts.system import control, programs
from scripts.system.control import System
from scripts.system.embedded import postgres, redis
from scripts.system.first_steps import show_first_steps
from scripts.system.folders import only_system
from scripts.system.fork_server import Start, forking
from scripts.system.listener import becomes_ready, listening, reachable
from scripts.system.prepare import run_preparation
from scripts.system.programs import Program, Server
from scripts.system.sizing.bounds import read_bounds
from scripts.system.sizing.small import SHARED, has_little_memory, small_environment, smaller
from scripts.system.supervisor import Supervisor
from scripts.system.terminal_lines import KeptLog, readable
from workers.engines.registry import list_families, named_engines
from workers.pools import processes_of

#: A server that has ended so often since the database last answered will not start.
HOPELESS_RESTARTS = 4
#: How long the API may take to answer before the console says so.
API_PATIENCE = timedelta(seconds=60)
#: How long pools without a free processor wait for the API, whose imports would compete with theirs.
POOLS_WAIT = timedelta(seconds=5)
#: How long the API of a killed system may drain, and keep its port.
KILLED_API_PATIENCE = timedelta(seconds=15)
#: Time beyond its own drain after which a program is killed.
DRAIN_SLACK = timedelta(seconds=5)


def up(
    settings: Settings, *, host: str, port: int, pools: Mapping[str, int], any_port: bool = False, small: bool = False
) -> int:
    """Run a system until it is stopped; return the exit code.

    `pools` overrides the pools' sizes in workers/pools.py; `any_port` takes a free port if `port` is taken; `small`
    puts the other pools into one process. Raises NotReady if something is missing or taken, SecretsUnavailable."""
    settings = settings.model_copy(update={"data": settings.data.resolve()})
    if small or has_little_memory():
        settings = smaller(settings)
    sizes = _sizes(settings, pools)
    shared = [queue for queue in sizes if queue not in pools] if settings.small else []
    for family in list_families():
        named_engines(settings, family)  # otherwise a wrong name would stop its pool again and again
    _check_own_means(settings)
    with ExitStack() as held:
        held.enter_context(only_system(settings.data))
        patience = KILLED_API_PATIENCE if control.was_killed(settings.data) else timedelta()
        listener = held.enter_context(listening(host, port, any_port=any_port, patience=patience))
        servers = []
        if settings.database_url is None:
            servers.append(server := postgres.server(settings.data))
            settings = settings.model_copy(update={"database_url": server.url})
        if settings.redis_url is None:
            servers.append(server := redis.server(settings.data))
            settings = settings.model_copy(update={"redis_url": server.url})
        start = held.enter_context(forking())
        return asyncio.run(_Up(settings, servers, listener, sizes, shared, start).run())


def _check_own_means(settings: Settings) -> None:
    """Raise NotReady or SecretsUnavailable for a bad ffmpeg or key, which a pool would report late."""
    if settings.ffmpeg is not None:
        from workers.media.audio.ffmpeg import find_ffmpeg

        find_ffmpeg(settings)
    if settings.secrets_key is not None:
        SecretBox(settings).check()


def in_turn(sizes: Mapping[str, int], *, processors: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return the pools to start beside the API, which keeps one processor busy, and those to start after it."""
    beside = sum(processes < processors for processes in accumulate(sizes.values()))
    return list(sizes)[:beside], list(sizes)[beside:]


class _Up:
    """One run of a system, from its first process to its last."""

    def __init__(
        self,
        settings: Settings,
        servers: list[Server],
        listener: socket.socket,
        sizes: Mapping[str, int],
        shared: Sequence[str],
        start: Start,
    ) -> None:
        self._settings = settings
        self._servers = servers
        self._listener = listener
        self._sizes = {queue: size for queue, size in sizes.items() if queue not in shared}
        self._shared = shared
        # For people; with a format set, or output elsewhere, every line is passed on.
        self._kept = KeptLog(settings.data) if sys.stdout.isatty() and settings.log_format == "auto" else None
        self._console = Console(readable=readable, keep=self._kept.write) if self._kept else Console()
        self._supervisor = Supervisor(self._console, start=start)
        self._environment = programs.environment(settings, small_environment(settings))
        self._stopped = asyncio.Event()
        self._restarts_before: dict[str, int] = {}
        self._system = _system(settings, listener)

    async def run(self) -> int:
        """Start everything in order; when told, stop it in reverse."""
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(sent, self._stop)
        commands = await control.serve(self._settings.data, self._supervisor)
        control.record(self._settings.data, self._system)
        starting = asyncio.create_task(self._start())
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done() and not starting.exception():
                await stopped
            self._console.say("stopping; another Ctrl-C does not wait for work in hand")
        finally:
            await self._end(starting, stopped)
            commands.close()
            control.forget(self._settings.data)
            self._console.close()
            if self._kept:
                self._kept.close()
        if not starting.cancelled() and (error := starting.exception()):
            raise error
        return 0

    def _stop(self) -> None:
        if self._stopped.is_set():
            self._supervisor.hurry()
        self._stopped.set()

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        self._listener.close()  # new clients are refused at once
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await self._supervisor.stop()

    async def _start(self) -> None:
        began = time.monotonic()
        if self._kept:
            self._console.say(f"the full log is in {self._kept.path}")
        for server in self._servers:
            self._console.say(f"starting {server.name}")
            self._supervisor.run(server)
        self._console.say("preparing the database")
        first = await self._prepare()
        beside, then = in_turn(self._sizes, processors=os.cpu_count() or 1)
        self._run_pools(beside)
        is_ready = await becomes_ready(self._listener, POOLS_WAIT)
        self._run_pools(then)
        self._run_shared()
        self._run("sweep", programs.sweep(), drain=DRAIN_SLACK)
        is_ready = is_ready or await becomes_ready(self._listener, API_PATIENCE)
        state = "ready" if is_ready else "not ready yet, see above,"
        self._console.say(f"{state} on {self._system.address} ({time.monotonic() - began:.1f} s)")
        self._console.show(
            show_first_steps(
                self._system.address, self._settings.data, first, self._settings, terminal=sys.stdout.isatty()
            )
        )

    async def _prepare(self) -> FirstAccount | None:
        """Prepare the database; return the first account until it has signed in. Raises NotReady."""
        preparation = run_preparation(
            self._system.address,
            embedded=any(server.name == "postgres" for server in self._servers),
            environment=self._environment,
            console=self._console,
            when_database_answers=self._database_answers,
        )
        watch, prepared = asyncio.create_task(self._watch_servers()), asyncio.create_task(preparation)
        try:
            await asyncio.wait({watch, prepared}, return_when=asyncio.FIRST_COMPLETED)
            return watch.result() if watch.done() else prepared.result()
        finally:
            watch.cancel()
            prepared.cancel()
            await asyncio.wait({watch, prepared})

    async def _watch_servers(self) -> NoReturn:
        """Raise NotReady if an embedded server can't start; never return."""
        while True:
            if hopeless := _hopeless(self._servers, self._supervisor.pools(), self._restarts_before):
                raise NotReady(f"The server {hopeless} does not start; the lines above say why.")
            await asyncio.sleep(0.1)

    def _database_answers(self) -> None:
        """Note that the database answers; the first time, start the API, which imports while the database migrates."""
        if not self._restarts_before:
            self._run_api()
        self._restarts_before = {pool.name: pool.restarts for pool in self._supervisor.pools()}

    def _run_api(self) -> None:
        descriptor = self._listener.fileno()
        argv = programs.api(self._settings, bind=f"fd://{descriptor}")
        drain = timedelta(seconds=self._settings.api.drain_seconds) + DRAIN_SLACK
        self._run("api", argv, drain=drain, descriptors=(descriptor,), folder=programs.ROOT)

    def _run_shared(self) -> None:
        """Start the one process of all pools that share it; it can't be scaled."""
        if not self._shared:
            return
        self._console.say(f"starting one process for the pools {', '.join(self._shared)}, to save memory")
        drain = timedelta(seconds=self._settings.work.drain_seconds) + DRAIN_SLACK
        argv = programs.pool(*self._shared)
        self._run(SHARED, argv, drain=drain)

    def _run_pools(self, queues: Sequence[str]) -> None:
        drain = timedelta(seconds=self._settings.work.drain_seconds) + DRAIN_SLACK
        if queues:
            self._console.say(f"starting the pools {', '.join(queues)}")
        for queue in queues:
            self._run(queue, programs.pool(queue), self._sizes[queue], drain=drain, scalable=True)

    def _run(self, name: str, argv: tuple[str, ...], processes: int = 1, **options: Any) -> None:
        self._supervisor.run(Program(name, argv, self._environment, forked=True, **options), processes)


def _hopeless(servers: Sequence[Server], running: Sequence[Pool], before: Mapping[str, int]) -> str | None:
    """Return a server that was restarted too often since `before`."""
    names = {server.name for server in servers}
    restarts = {one.name: one.restarts - before.get(one.name, 0) for one in running if one.name in names}
    return next((name for name, times in restarts.items() if times >= HOPELESS_RESTARTS), None)


def _system(settings: Settings, listener: socket.socket) -> System:
    host, port = reachable(listener)
    return System(
        pid=os.getpid(),
        address=f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}",
        database_url=settings.database_url or "",
        redis_url=settings.redis_url or "",
    )


def _sizes(settings: Settings, pools: Mapping[str, int]) -> dict[str, int]:
    """Return how many processes each pool has."""
    known = queues(load_kinds(settings))
    for name in pools:
        if name not in known:
            raise NotFound(f"There is no pool {name}; there is {', '.join(known)}.")
    kept = {name: low for name, (low, _) in read_bounds(settings.data).items()}
    return {queue: pools.get(queue, kept.get(queue, processes_of(queue))) for queue in known}
