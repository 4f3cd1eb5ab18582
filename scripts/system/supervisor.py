"""The supervisor: keeps the wanted number of every program's processes running; the numbers change live.

It never gives up on a program, a process that drains holds up nothing else, and nothing outlives it, however it dies.
docs/decisions/0005-own-supervisor.md says why it is our own.
"""

import asyncio
import os
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pipeline.errors import Conflict, NotFound
from pipeline.processes import shimmed
from scripts.console import Console
from scripts.system.programs import Program
from scripts.system.undertaker import Undertaker, group_lives, kill_group

#: Pauses before a program is started again double from the first to the longest.
FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=2)
#: A program that ran for so long had started well: its next pause is the first again.
STEADY = timedelta(seconds=10)


@dataclass(frozen=True)
class Pool:
    """What is running of a program."""

    name: str
    wanted: int
    pids: list[int]
    restarts: int
    scalable: bool


@dataclass(eq=False)
class Place:
    """One of the processes that a program should have, whichever one it is at the moment."""

    number: int
    retired: asyncio.Event = field(default_factory=asyncio.Event)
    pid: int | None = None


@dataclass
class Crew:
    """A program with its places; those that drain are among them until they end."""

    program: Program
    places: list[Place] = field(default_factory=list)
    restarts: int = 0

    def wanted(self) -> list[Place]:
        return [place for place in self.places if not place.retired.is_set()]


class Supervisor:
    """Runs programs until it is stopped."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._undertaker = Undertaker()
        self._crews: dict[str, Crew] = {}
        self._tasks: dict[asyncio.Task[None], int] = {}  # with the stage of each
        self._hurried = asyncio.Event()
        self._stopping = False

    def run(self, program: Program, processes: int = 1) -> None:
        """Keep so many processes of a program running from now on."""
        self._crews[program.name] = Crew(program)
        self._set(self._crews[program.name], processes)

    def scale(self, name: str, processes: int) -> None:
        """Change how many processes a pool has; those too many drain while new ones start."""
        crew = self._crews.get(name)
        if crew is None or not crew.program.scalable:
            names = ", ".join(crew.program.name for crew in self._crews.values() if crew.program.scalable)
            raise NotFound(f"There is no pool {name}; there is {names or 'none'}.")
        if self._stopping:
            raise Conflict("The system is stopping.")
        self._set(crew, processes)
        self._console.say(f"{name} has {processes} processes now")

    def pools(self) -> list[Pool]:
        """Return what is running."""
        return [
            Pool(
                name=crew.program.name,
                wanted=len(crew.wanted()),
                pids=[place.pid for place in crew.places if place.pid is not None],
                restarts=crew.restarts,
                scalable=crew.program.scalable,
            )
            for crew in self._crews.values()
        ]

    async def stop(self) -> None:
        """Stop everything, stage by stage, each program in its drain; return when nothing is left."""
        self._stopping = True
        for stage in sorted({crew.program.stage for crew in self._crews.values()}, reverse=True):
            for crew in self._crews.values():
                if crew.program.stage == stage:
                    self._set(crew, 0)
            while tasks := [task for task, of_stage in self._tasks.items() if of_stage == stage]:
                await asyncio.wait(tasks)
        self._undertaker.close()

    def hurry(self) -> None:
        """Wait for no drain any more but the servers'."""
        self._hurried.set()

    def _set(self, crew: Crew, processes: int) -> None:
        wanted = crew.wanted()
        for place in wanted[processes:]:
            place.retired.set()
        for _ in range(processes - len(wanted)):
            taken = {place.number for place in crew.places}
            place = Place(next(number for number in range(1, len(taken) + 2) if number not in taken))
            crew.places.append(place)
            self._spawn(self._keep(crew, place), crew.program.stage)

    def _spawn(self, work: Coroutine[Any, Any, None], stage: int) -> None:
        task = asyncio.create_task(work)
        self._tasks[task] = stage
        task.add_done_callback(self._tasks.pop)

    async def _keep(self, crew: Crew, place: Place) -> None:
        """Start a process again whenever it ends, until its place is retired."""
        name, pause = f"{crew.program.name}.{place.number}", timedelta()
        while not place.retired.is_set():
            started = time.monotonic()
            try:
                how = f"ended with {await self._run_once(crew.program, place, name)}"
            except OSError as error:
                how = f"could not be started: {error}"
            if place.retired.is_set():
                break
            steady = time.monotonic() - started >= STEADY.total_seconds()
            pause = FIRST_PAUSE if steady else min(max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE)
            crew.restarts += 1
            self._console.say(f"{name} {how}; starting it again in {pause.total_seconds():.1f} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(place.retired.wait(), pause.total_seconds())
        crew.places.remove(place)

    async def _run_once(self, program: Program, place: Place, name: str) -> int:
        """Run a process until it ends by itself or its place is retired; return its exit status."""
        ours, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *shimmed(program.argv, sent=program.stopped_by),
                env=program.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                pass_fds=program.descriptors,
            )
        finally:
            os.close(theirs)
            self._console.follow(ours, name)  # to its end, which is now if nothing was started
        place.pid = process.pid
        self._undertaker.watch(process.pid, drain=program.drain, stopped_by=program.stopped_by)
        ended = asyncio.create_task(process.wait())
        await _first(ended, place.retired.wait())
        # After a crash its own children, told by the kernel, drain while the next process starts.
        rest = program.drain if ended.done() else timedelta()
        if not ended.done():
            await self._drain(process, ended, program)
        self._spawn(self._clear(process.pid, rest), program.stage)
        place.pid = None
        return await ended

    async def _drain(self, process: asyncio.subprocess.Process, ended: asyncio.Task[int], program: Program) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(program.stopped_by)
        patience = program.drain.total_seconds()
        await _first(ended, self._hurried.wait() if program.stage else asyncio.sleep(patience), patience)
        if not ended.done():
            kill_group(process.pid)

    async def _clear(self, group: int, drain: timedelta) -> None:
        """Kill what is left of a process group whose leader has ended, after a drain."""
        until = time.monotonic() + drain.total_seconds()
        while time.monotonic() < until and group_lives(group) and not self._hurried.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # the end of processes that are not our children can't be waited for
        kill_group(group)
        self._undertaker.forget(group)


async def _first(ended: asyncio.Task[int], other: Coroutine[Any, Any, Any], seconds: float | None = None) -> None:
    """Wait for whichever comes first; only `ended` goes on."""
    waiting = asyncio.create_task(other)
    await asyncio.wait({ended, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
