"""Supervisor: keeps the wanted number of each program's processes running, and restarts them for ever.

A draining process delays no other, and none outlives the supervisor, even after a SIGKILL (docs/decisions/0005)."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pipeline.errors import Conflict, NotFound
from pipeline.operations.supervision import Pool
from scripts.console import Console
from scripts.system.fork_server import Process, Start, execute
from scripts.system.orphan_reaper import OrphanReaper, group_lives, kill_group
from scripts.system.programs import Program
from scripts.system.sizing.out_of_memory import ADVICE, Shortages
from workers.models.cgroup import MemoryGroup

#: The pause before a restart doubles from the first to the longest.
FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=2)
#: After running for so long, a program's next pause is the first again.
STEADY = timedelta(seconds=10)


@dataclass(eq=False)
class Replica:
    """A place for one process of a program; a restart changes its pid alone."""

    number: int
    retired: asyncio.Event = field(default_factory=asyncio.Event)
    pid: int | None = None


@dataclass
class ReplicaSet:
    """A program and its replicas, draining ones included."""

    program: Program
    members: list[Replica] = field(default_factory=list)
    restarts: int = 0
    out_of_memory: int = 0

    def wanted(self) -> list[Replica]:
        """Return the replicas that are not retired."""
        return [replica for replica in self.members if not replica.retired.is_set()]


class Supervisor:
    """Runs programs until it is stopped."""

    def __init__(
        self, console: Console, *, start: Start = execute, count_kills: Callable[[], int] | None = None
    ) -> None:
        self._console = console
        self._start = start
        self._count_kills = count_kills or MemoryGroup().kills
        self._reaper = OrphanReaper()
        self._sets: dict[str, ReplicaSet] = {}
        self._tasks: dict[asyncio.Task[None], int] = {}  # with the stage of each
        self._hurried = asyncio.Event()
        self._stopping = False

    def run(self, program: Program, processes: int = 1) -> None:
        """Start a program and keep this many processes running."""
        self._sets[program.name] = ReplicaSet(program)
        self._set(self._sets[program.name], processes)

    def scale(self, name: str, processes: int) -> None:
        """Change the size of a pool; surplus processes drain. Raises NotFound, Conflict."""
        replicas = self._sets.get(name)
        if replicas is None or not replicas.program.scalable:
            names = ", ".join(replicas.program.name for replicas in self._sets.values() if replicas.program.scalable)
            raise NotFound(f"There is no pool {name}; there is {names or 'none'}.")
        if self._stopping:
            raise Conflict("The system is stopping.")
        self._set(replicas, processes)
        self._console.say(f"{name} has {processes} processes now")

    def pools(self) -> list[Pool]:
        return [
            Pool(
                name=replicas.program.name,
                wanted=len(replicas.wanted()),
                pids=[replica.pid for replica in replicas.members if replica.pid is not None],
                restarts=replicas.restarts,
                scalable=replicas.program.scalable,
                out_of_memory=replicas.out_of_memory,
            )
            for replicas in self._sets.values()
        ]

    async def stop(self) -> None:
        """Stop everything, the last stage first; return when all processes have ended."""
        self._stopping = True
        for stage in sorted({replicas.program.stage for replicas in self._sets.values()}, reverse=True):
            for replicas in self._sets.values():
                if replicas.program.stage == stage:
                    self._set(replicas, 0)
            while tasks := [task for task, of_stage in self._tasks.items() if of_stage == stage]:
                await asyncio.wait(tasks)
        self._reaper.close()

    def hurry(self) -> None:
        """End all drains now, except the servers'."""
        self._hurried.set()

    def _set(self, replicas: ReplicaSet, processes: int) -> None:
        wanted = replicas.wanted()
        for replica in wanted[processes:]:
            replica.retired.set()
        for _ in range(processes - len(wanted)):
            taken = {replica.number for replica in replicas.members}
            replica = Replica(next(number for number in range(1, len(taken) + 2) if number not in taken))
            replicas.members.append(replica)
            self._spawn(self._keep(replicas, replica), replicas.program.stage)

    def _spawn(self, work: Coroutine[Any, Any, None], stage: int) -> None:
        task = asyncio.create_task(work)
        self._tasks[task] = stage
        task.add_done_callback(self._tasks.pop)

    async def _keep(self, replicas: ReplicaSet, replica: Replica) -> None:
        """Restart a process until its replica is retired."""
        name, pause = f"{replicas.program.name}.{replica.number}", timedelta()
        shortages = Shortages(self._count_kills)
        while not replica.retired.is_set():
            started, status = time.monotonic(), 0
            shortages.watch()
            try:
                status = await self._run_once(replicas.program, replica, name)
                how = f"ended with {status}"
            except OSError as error:
                how = f"could not be started: {error}"
            if replica.retired.is_set():
                break
            steady = time.monotonic() - started >= STEADY.total_seconds()
            pause = FIRST_PAUSE if steady else min(max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE)
            if shortages.have_struck(status):
                replicas.out_of_memory += 1
                how, pause = f"was killed, as memory ran out: {ADVICE}", max(pause, shortages.pause)
            replicas.restarts += 1
            self._console.say(f"{name} {how}; starting it again in {pause.total_seconds():.1f} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(replica.retired.wait(), pause.total_seconds())
        replicas.members.remove(replica)

    async def _run_once(self, program: Program, replica: Replica, name: str) -> int:
        """Run a process until it ends or its replica is retired; return its exit status."""
        ours, theirs = os.pipe()
        try:
            process = await self._start(program, name, theirs)
        finally:
            os.close(theirs)
            self._console.follow(ours, name)  # ends at once if nothing was started
        replica.pid = process.pid
        self._reaper.watch(process.pid, drain=program.drain, stopped_by=program.stopped_by)
        ended = asyncio.create_task(process.wait())
        await _first(ended, replica.retired.wait())
        # After a crash the kernel signals its children, which drain while the next process starts.
        rest = program.drain if ended.done() else timedelta()
        if not ended.done():
            await self._drain(process, ended, program)
        self._spawn(self._clear(process.pid, rest), program.stage)
        replica.pid = None
        return await ended

    async def _drain(self, process: Process, ended: asyncio.Task[int], program: Program) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(program.stopped_by)
        patience = program.drain.total_seconds()
        await _first(ended, self._hurried.wait() if program.stage else asyncio.sleep(patience), patience)
        if not ended.done():
            kill_group(process.pid)

    async def _clear(self, group: int, drain: timedelta) -> None:
        """Let a process group without its leader drain; then kill it."""
        until = time.monotonic() + drain.total_seconds()
        while time.monotonic() < until and group_lives(group) and not self._hurried.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # they are not our children, so their end can't be awaited
        kill_group(group)
        self._reaper.forget(group)


async def _first(ended: asyncio.Task[int], other: Coroutine[Any, Any, Any], seconds: float | None = None) -> None:
    """Wait for either, at most so many seconds; cancel `other` and let `ended` go on."""
    waiting = asyncio.create_task(other)
    await asyncio.wait({ended, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
