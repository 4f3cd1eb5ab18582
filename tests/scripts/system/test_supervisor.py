"""The supervisor, over real processes: restarts, live numbers, drains that block nothing, and nothing left behind."""

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from servers import is_running, wait_for_end
from systems import marked

from pipeline.errors import Conflict, NotFound
from scripts.console import Console
from scripts.system.programs import ROOT, Program, environment
from scripts.system.supervisor import LONGEST_PAUSE, Pool, Supervisor

#: Stops at once when asked to.
OBEDIENT = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: exit(0)); time.sleep(600)"
#: Needs a kill.
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
)


#: Needs a kill, and notes ten times a second that it still lives, from its parent's death on.
WITNESS = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
parent = os.getppid()
while True:
    time.sleep(0.1)
    if os.getppid() != parent:
        with open({folder!r} + "/" + str(os.getpid()), "a") as notes:
            notes.write(".")
"""


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the environment of every process of a test; none may be left after it."""
    word = f"PRESSROOM_TEST_MARK={uuid4().hex}"
    yield word
    assert marked(word) == []


def program(mark: str, code: str, *, name: str = "pool", drain: float = 10, stage: int = 1) -> Program:
    key, _, value = mark.partition("=")
    return Program(
        name,
        (sys.executable, "-c", code),
        environment(extra={key: value}),
        drain=timedelta(seconds=drain),
        stage=stage,
        scalable=True,
    )


def supervised(scenario: Callable[[Supervisor], Awaitable[None]], **options: Any) -> str:
    """Run a scenario with a supervisor, stop it, and return what it logged."""
    stream = io.BytesIO()

    async def run() -> None:
        console = Console(stream, colour=False)
        supervisor = Supervisor(console, **options)
        try:
            await scenario(supervisor)
        finally:
            await asyncio.wait_for(supervisor.stop(), 120)
            await asyncio.sleep(0)
            console.close()

    asyncio.run(run())
    return stream.getvalue().decode()


def is_prepared(pid: int) -> bool:
    """Return whether a process ignores or handles SIGTERM already."""
    status = Path(f"/proc/{pid}/status").read_text()
    signals = [int(mask, 16) for mask in re.findall(r"^Sig(?:Ign|Cgt):\s*([0-9a-f]+)$", status, re.MULTILINE)]
    return any(mask >> (signal.SIGTERM - 1) & 1 for mask in signals)


def pool(supervisor: Supervisor, name: str = "pool") -> Pool:
    return next(pool for pool in supervisor.pools() if pool.name == name)


async def until(condition: Callable[[], object], *, seconds: float = 30) -> float:
    """Wait for a condition; return how long it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it did not happen in time"
        await asyncio.sleep(0.01)
    return time.monotonic() - began


def test_a_killed_process_is_back_at_once(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, OBEDIENT), 2)
        await until(lambda: len(pool(supervisor).pids) == 2)
        killed = pool(supervisor).pids[0]
        os.kill(killed, signal.SIGKILL)
        await until(lambda: killed not in pool(supervisor).pids)
        await until(lambda: len(pool(supervisor).pids) == 2)
        assert pool(supervisor).restarts == 1

    assert "ended with -9; starting it again in 0.1 s" in supervised(scenario)


def test_a_program_that_always_fails_is_started_for_ever_with_pauses_of_two_seconds_at_most(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, "exit(3)"))
        await until(lambda: pool(supervisor).restarts >= 7, seconds=60)

    pauses = [float(line.split()[-2]) for line in supervised(scenario).splitlines() if "again in" in line]
    assert pauses[:7] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    assert max(pauses) == LONGEST_PAUSE.total_seconds()


def test_a_program_killed_for_its_memory_is_named_and_left_alone_at_the_third_time(mark: str):
    kills = count()

    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, "exit(1)"))
        await until(lambda: pool(supervisor).out_of_memory == 3)
        await asyncio.sleep(0)

    said = supervised(scenario, count_kills=lambda: next(kills))
    assert said.count("as memory ran out: give the machine more memory") == 3
    assert "starting it again in 600.0 s" in said


def test_a_program_that_does_not_exist_is_reported_and_tried_again(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        missing = Program("missing", ("/no/such/program",), environment())
        supervisor.run(missing)
        await until(lambda: pool(supervisor, "missing").restarts >= 2)

    assert "No such file" in supervised(scenario)


def test_numbers_change_live_and_numbers_are_used_again(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, OBEDIENT), 1)
        await until(lambda: len(pool(supervisor).pids) == 1)
        supervisor.scale("pool", 4)
        await until(lambda: len(pool(supervisor).pids) == 4)
        first = pool(supervisor).pids[0]
        supervisor.scale("pool", 1)
        await until(lambda: pool(supervisor).pids == [first])
        supervisor.scale("pool", 0)
        await until(lambda: pool(supervisor).pids == [])
        assert pool(supervisor).restarts == 0

    supervised(scenario)


def test_a_slow_drain_holds_up_neither_a_restart_nor_new_processes(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, STUBBORN, drain=600), 2)
        supervisor.run(program(mark, OBEDIENT, name="other"))
        await until(lambda: len(pool(supervisor).pids) == 2 and pool(supervisor, "other").pids)
        await until(lambda: all(map(is_prepared, pool(supervisor).pids)))
        draining = pool(supervisor).pids
        supervisor.scale("pool", 0)
        supervisor.scale("pool", 1)
        await until(lambda: len(pool(supervisor).pids) == 3)
        other = pool(supervisor, "other").pids
        os.kill(other[0], signal.SIGKILL)
        await until(lambda: pool(supervisor, "other").pids not in ([], other))
        assert all(map(is_running, draining))  # all of it within the drain
        supervisor.hurry()
        await until(lambda: not any(map(is_running, draining)))

    supervised(scenario)


def test_a_program_that_ignores_the_signal_is_killed_with_its_children_after_its_drain(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        with_child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]);" + STUBBORN
        supervisor.run(program(mark, with_child, drain=0.5))
        await until(lambda: len(marked(mark)) == 2 and all(map(is_prepared, marked(mark))))
        began = time.monotonic()
        await asyncio.wait_for(supervisor.stop(), 120)
        assert time.monotonic() - began > 0.4
        await until(lambda: marked(mark) == [])

    supervised(scenario)


def test_servers_stop_after_everything_else(mark: str):
    last_words = (
        "import signal, time; signal.signal(signal.SIGTERM, lambda *_: (time.sleep({0}), print('bye'), exit(0)));"
    )

    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, last_words.format(0) + "time.sleep(600)", name="server", stage=0))
        supervisor.run(program(mark, last_words.format(0.7) + "time.sleep(600)", name="api"))
        await until(lambda: len(marked(mark)) == 2 and all(map(is_prepared, marked(mark))))

    assert [line for line in supervised(scenario).splitlines() if "bye" in line] == [
        "api.1            | bye",
        "server.1         | bye",
    ]


def test_unknown_pools_and_a_stopping_system_are_refused(mark: str):
    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, OBEDIENT))
        with pytest.raises(NotFound, match="there is pool"):
            supervisor.scale("vision", 2)
        await asyncio.wait_for(supervisor.stop(), 120)
        with pytest.raises(Conflict):
            supervisor.scale("pool", 2)

    supervised(scenario)


def test_lines_stay_whole_and_carry_their_writers_name(mark: str):
    talker = "import os, time; [os.write(1, b'x' * 300 + b'\\n') for _ in range(50)]; os.write(2, b'no end'); exit(0)"

    async def scenario(supervisor: Supervisor) -> None:
        supervisor.run(program(mark, talker), 3)
        await until(lambda: pool(supervisor).restarts >= 6)

    lines = [line for line in supervised(scenario).splitlines() if line.startswith("pool.")]
    assert {line.partition(" | ")[2] for line in lines} == {"x" * 300, "no end"}
    assert {line.split()[0] for line in lines} == {"pool.1", "pool.2", "pool.3"}


def test_a_terminal_that_stands_still_holds_up_no_program(mark: str, tmp_path: Path):
    """40,000 lines into a pipe that nobody reads."""
    talker = (
        f"for _ in range(40_000): print('x' * 100)\nopen({str(tmp_path / 'done')!r}, 'w')\nimport time; time.sleep(600)"
    )
    reader, writer = os.pipe()

    async def run() -> None:
        supervisor = Supervisor(Console(os.fdopen(writer, "wb"), colour=False))
        supervisor.run(program(mark, talker, drain=1))
        await until((tmp_path / "done").exists)
        await asyncio.wait_for(supervisor.stop(), 120)

    asyncio.run(run())
    os.set_blocking(reader, False)
    while os.read(reader, 2**20):  # lets the console's thread go on, to its end
        time.sleep(0.001)
        if not select_ready(reader):
            break
    os.close(reader)


def select_ready(reader: int) -> bool:
    import select

    return bool(select.select([reader], [], [], 0.2)[0])


SUPERVISOR = """
import asyncio, sys
from datetime import timedelta
from scripts.console import Console
from scripts.system.programs import Program, environment, module
from scripts.system.supervisor import Supervisor

async def main():
    supervisor = Supervisor(Console())
    drain = timedelta(seconds={drain})
    for name, argv in {programs!r}.items():
        supervisor.run(Program(name, tuple(argv), environment(), drain=drain), 2)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def start_supervisor(
    mark: str, programs: dict[str, tuple[str, ...]], *, path: str = "", drain: float = 1.5
) -> "subprocess.Popen[bytes]":
    key, _, value = mark.partition("=")
    env = environment(extra={key: value})
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (path, env["PYTHONPATH"])))
    return subprocess.Popen([sys.executable, "-c", SUPERVISOR.format(programs=programs, drain=drain)], env=env)


def wait_for(mark: str, processes: int) -> list[int]:
    """Wait until so many processes have been there for a moment."""
    for _ in range(1000):
        if len(found := marked(mark)) == processes and (time.sleep(1.5), marked(mark))[1] == found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{len(marked(mark))} processes instead of {processes}")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_after_a_kill_of_the_supervisor_nothing_is_left_once_the_drain_is_over(mark: str, tmp_path: Path):
    witness = WITNESS.format(folder=str(tmp_path))
    programs = {"obedient": (sys.executable, "-c", OBEDIENT), "stubborn": (sys.executable, "-c", witness)}
    with start_supervisor(mark, programs, drain=4) as supervisor:
        found = wait_for(mark, 6)  # with the supervisor and the reaper
        obedient, stubborn = ([pid for pid in found if code in arguments(pid)] for code in (OBEDIENT, witness))
        assert (len(obedient), len(stubborn)) == (2, 2)
        while not all(map(is_prepared, [*obedient, *stubborn])):
            time.sleep(0.02)
        supervisor.kill()
    for pid in found:
        wait_for_end(pid)
    assert all(len((tmp_path / str(pid)).read_text()) >= 5 for pid in stubborn), "they have their drain"


def arguments(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def test_the_supervisor_stays_small():
    """The decision to write our own counts on it (docs/decisions/0005)."""
    assert len((ROOT / "scripts" / "system" / "supervisor.py").read_text().splitlines()) <= 200
