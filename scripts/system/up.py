"""Up: a whole system on one machine, under one supervisor."""

import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import timedelta
from itertools import chain, repeat
from typing import Any, NoReturn

from pipeline.errors import NotFound, NotReady
from pipeline.kinds import load_kinds, queues
from pipeline.processes import shimmed
from pipeline.settings import Settings
from scripts.console import Console
from scripts.system import control, programs
from scripts.system.control import System
from scripts.system.embedded import Server, postgres, redis
from scripts.system.exclusive import listening, only_system, reachable
from scripts.system.greeting import first_request, hand_over
from scripts.system.programs import Program
from scripts.system.supervisor import Supervisor

#: A server that ended so often before it ever answered will not start.
HOPELESS_RESTARTS = 4
#: How long the API may take to answer before we say so; it is started again for ever all the same.
API_PATIENCE = timedelta(seconds=60)
#: How long the API of a system that was killed may keep the port, while it drains.
KILLED_API_PATIENCE = timedelta(seconds=15)
#: What a program gets beyond its own drain before it is killed.
DRAIN_SLACK = timedelta(seconds=5)
SERVER_DRAIN = timedelta(seconds=30)


def up(settings: Settings, *, host: str, port: int, pools: Mapping[str, int], any_port: bool = False) -> int:
    """Run a system until it is stopped; return the exit code.

    `pools` says how many processes a queue's pool has, 1 where it says nothing. `any_port`: take a free port when
    `port` is taken. Raises NotReady when something that it needs is missing or taken.
    """
    settings = settings.model_copy(update={"data": settings.data.resolve()})
    sizes = _sizes(settings, pools)
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
        return asyncio.run(_Up(settings, servers, listener, sizes).run())


class _Up:
    """One run of a system, from its first process to its last."""

    def __init__(
        self, settings: Settings, servers: list[Server], listener: socket.socket, sizes: Mapping[str, int]
    ) -> None:
        self._settings = settings
        self._servers = servers
        self._listener = listener
        self._sizes = sizes
        self._console = Console()
        self._supervisor = Supervisor(self._console)
        self._environment = programs.environment(settings)
        if sys.stdout.isatty():
            self._environment.setdefault("PRESSROOM_LOG_FORMAT", "text")
        self._stopped = asyncio.Event()
        self._system = _system(settings, listener)

    async def run(self) -> int:
        """Start everything, in order, and stop it, in reverse, when told to."""
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(sent, self._stop)
        commands = await control.serve(self._settings.data, self._supervisor, self._stopped.set)
        control.record(self._settings.data, self._system)
        starting = asyncio.create_task(self._start())
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done() and not starting.exception():
                await stopped
            self._console.say("stopping; once more Ctrl-C waits for no work in hand")
        finally:
            await self._end(starting, stopped)
            commands.close()
            control.forget(self._settings.data)
            self._console.close()
        if not starting.cancelled() and (error := starting.exception()):
            raise error
        return 0

    def _stop(self) -> None:
        if self._stopped.is_set():
            self._supervisor.hurry()
        self._stopped.set()

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        self._listener.close()  # clients are refused now, not left waiting
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await self._supervisor.stop()

    async def _start(self) -> None:
        began = time.monotonic()
        for server in self._servers:
            self._supervisor.run(
                Program(
                    server.name,
                    server.argv,
                    programs.environment(),
                    drain=SERVER_DRAIN,
                    stopped_by=server.stopped_by,
                    stage=0,
                )
            )
        api_key, terminal = await self._prepare(), sys.stdout.isatty()
        if api_key:  # at once: should the start fail from here on, there is no other copy
            self._console.show(hand_over(api_key, self._settings.data, terminal=terminal))
        self._run_pools()
        state = "ready" if await self._api_answers() else "not ready yet, see above,"
        self._console.say(f"{state} on {self._system.address} ({time.monotonic() - began:.1f} s)")
        self._console.show(first_request(self._system.address, self._settings.data, api_key, terminal=terminal))

    async def _prepare(self) -> str | None:
        """Start the API when the database answers; migrate; return the first account's key, if it was made now."""
        ours, theirs = os.pipe()
        embedded = ["--embedded"] if any(server.name == "postgres" for server in self._servers) else []
        process = await asyncio.create_subprocess_exec(
            *shimmed(programs.module("scripts.system.prepare", *embedded)),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        self._console.follow(ours, "prepare")
        watch = asyncio.create_task(self._servers_start())
        key = asyncio.create_task(self._follow_preparation(process))
        try:
            await asyncio.wait({watch, key}, return_when=asyncio.FIRST_COMPLETED)
            return watch.result() if watch.done() else key.result()
        finally:
            for task in (watch, key):
                task.cancel()
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _follow_preparation(self, process: asyncio.subprocess.Process) -> str | None:
        output = process.stdout or asyncio.StreamReader()
        if await output.readline():
            self._run_api()
        last_line = await output.readline()
        if await process.wait():
            raise NotReady("The database could not be prepared; the lines above say why.")
        api_key: str | None = json.loads(last_line)["api_key"]
        return api_key

    async def _servers_start(self) -> NoReturn:
        """Never return; raise NotReady when a server of ours won't start."""
        while True:
            for pool in self._supervisor.pools():
                if pool.restarts >= HOPELESS_RESTARTS:
                    raise NotReady(f"The server {pool.name} does not start; the lines above say why.")
            await asyncio.sleep(0.1)

    def _run_api(self) -> None:
        descriptor = self._listener.fileno()
        argv = programs.api(self._settings, bind=f"fd://{descriptor}")
        drain = timedelta(seconds=self._settings.api.drain_seconds) + DRAIN_SLACK
        self._supervisor.run(Program("api", argv, self._environment, drain=drain, descriptors=(descriptor,)))

    def _run_pools(self) -> None:
        drain = timedelta(seconds=self._settings.work.drain_seconds) + DRAIN_SLACK
        for queue, processes in self._sizes.items():
            argv = programs.pool(self._settings, queue)
            self._supervisor.run(Program(queue, argv, self._environment, drain=drain, scalable=True), processes)
        self._supervisor.run(Program("sweep", programs.sweep(), self._environment, drain=DRAIN_SLACK))

    async def _api_answers(self) -> bool:
        """Wait until the API says that it is ready."""
        with suppress(TimeoutError):
            async with asyncio.timeout(API_PATIENCE.total_seconds()):
                for pause in chain((0.02,) * 100, repeat(0.2)):
                    if await self._is_ready():
                        return True
                    await asyncio.sleep(pause)
        return False

    async def _is_ready(self) -> bool:
        host, port = reachable(self._listener)
        try:
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).split()[1:2] == [b"200"]
            finally:
                writer.close()
        except OSError:
            return False


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
    return {queue: pools.get(queue, 1) for queue in known}
