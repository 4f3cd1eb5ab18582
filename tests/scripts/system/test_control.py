"""Control: commands find the running system by its data folder, and nobody else's commands are taken."""

import asyncio
import io
import json
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import NotReady, PressroomError
from pipeline.operations import supervision
from pipeline.operations.supervision import SOCKET, SupervisorSilent, sockets_folder
from pipeline.settings import Settings
from scripts.console import Console
from scripts.system import control
from scripts.system.control import System
from scripts.system.folders import private_folder
from scripts.system.programs import Program, environment
from scripts.system.sizing.bounds import read_bounds
from scripts.system.supervisor import Supervisor

SYSTEM = System(1, "http://127.0.0.1:8000", "postgresql://embedded", "unix:///embedded")
SLEEPER = Program("synthesis", (sys.executable, "-c", "import time; time.sleep(600)"), environment(), scalable=True)


def controlled(data: Path, scenario: Callable[[], Any]) -> Any:
    """Run blocking client code beside a supervisor with two processes; return the client's result."""

    async def run() -> Any:
        data.mkdir(exist_ok=True)
        supervisor = Supervisor(Console(io.BytesIO(), colour=False))
        commands = await control.serve(data, supervisor)
        control.record(data, SYSTEM)
        supervisor.run(SLEEPER, 2)
        try:
            return await asyncio.to_thread(scenario)
        finally:
            await supervisor.stop()
            commands.close()
            control.forget(data)

    return asyncio.run(run())


def test_pools_are_shown_and_scaled(tmp_path: Path):
    def scenario() -> list[int]:
        return [supervision.pools(tmp_path)[0].wanted, supervision.scale(tmp_path, "synthesis", 5)[0].wanted]

    assert controlled(tmp_path, scenario) == [2, 5]
    assert read_bounds(tmp_path) == {"synthesis": (5, 5)}  # for the next start


def test_a_scaler_changes_no_bounds(tmp_path: Path):
    def scenario() -> int:
        supervision.scale(tmp_path, "synthesis", 1, most=4)
        return supervision.scale(tmp_path, "synthesis", 3, keep=False)[0].wanted

    assert controlled(tmp_path, scenario) == 3
    assert read_bounds(tmp_path) == {"synthesis": (1, 4)}


@pytest.mark.parametrize(
    ("name", "processes", "said"),
    [("vision", 1, "no pool vision"), ("synthesis", 257, "256"), ("synthesis", -1, "256")],
)
def test_what_can_not_be_done_is_refused_in_words(tmp_path: Path, name: str, processes: int, said: str):
    def scenario() -> None:
        with pytest.raises(PressroomError, match=said):
            supervision.scale(tmp_path, name, processes)

    controlled(tmp_path, scenario)


@pytest.mark.parametrize("line", [b"\n", b"no json\n", b"[]\n", b'{"command": "scale"}\n', b"\xff\n", b"x" * 100_000])
def test_a_line_that_is_no_command_harms_nothing(tmp_path: Path, line: bytes):
    def scenario() -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(sockets_folder(tmp_path) / SOCKET))
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
        assert supervision.pools(tmp_path)[0].wanted == 2

    controlled(tmp_path, scenario)


def test_socket_and_state_file_are_their_owners_alone(tmp_path: Path):
    def scenario() -> list[int]:
        files = (sockets_folder(tmp_path) / SOCKET, tmp_path / "system.json")
        return [stat.S_IMODE(file.stat().st_mode) for file in files]

    assert controlled(tmp_path, scenario) == [0o600, 0o600]


def test_a_deep_data_folder_has_a_socket_too(tmp_path: Path):
    deep = tmp_path / "/".join(["a-folder-with-a-long-name"] * 6)
    deep.mkdir(parents=True)
    assert controlled(deep, lambda: supervision.pools(deep)[0].wanted) == 2
    sockets_folder(deep).rmdir()


def test_a_running_systems_servers_are_found_unless_others_are_set(tmp_path: Path):
    def scenario() -> tuple[Settings, Settings]:
        unset = Settings(data=tmp_path, database_url=None, redis_url=None)
        return (
            control.settings_of_running(unset),
            control.settings_of_running(unset.model_copy(update={"database_url": "postgresql://mine"})),
        )

    found, mixed = controlled(tmp_path, scenario)
    assert (found.database_url, found.redis_url) == (SYSTEM.database_url, SYSTEM.redis_url)
    assert (mixed.database_url, mixed.redis_url) == ("postgresql://mine", SYSTEM.redis_url)


def test_without_a_system_one_line_says_what_to_do_and_nothing_is_made(tmp_path: Path):
    data = tmp_path / "data"
    assert control.find_system(data) is None
    with pytest.raises(NotReady, match="pressroom up"):
        supervision.pools(data)
    assert not data.exists()


def test_a_system_that_stands_still_is_not_said_to_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervision, "PATIENCE_SECONDS", 0.1)
    control.record(tmp_path, SYSTEM)
    with socket.socket(socket.AF_UNIX) as still:
        still.bind(str(private_folder(sockets_folder(tmp_path)) / SOCKET))
        still.listen()
        with pytest.raises(SupervisorSilent, match="did not answer"):
            control.find_system(tmp_path)


def test_the_state_file_of_a_killed_system_counts_for_nothing(tmp_path: Path):
    (tmp_path / "system.json").write_text(json.dumps(control.asdict(SYSTEM)))
    assert control.find_system(tmp_path) is None
