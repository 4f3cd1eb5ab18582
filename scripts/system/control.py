"""Control: how a command finds the running system of a data folder, and sends commands to its supervisor.

Request and answer are one line of JSON each, over a unix socket that only the system's user can open.
`DATA/system.json` has the addresses of the API and the servers; it is valid only while the supervisor answers.
"""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import NotReady, PressroomError
from pipeline.settings import Settings
from scripts.system.folders import private_folder, sockets_folder, write_private
from scripts.system.supervisor import Pool, Supervisor

#: A supervisor answers within milliseconds, on a busy machine within seconds; a stopped one (SIGSTOP) never does.
PATIENCE_SECONDS = 20.0
MAX_PROCESSES = 256
SOCKET = "control.sock"


@dataclass(frozen=True)
class System:
    """A running system: its supervisor, the API's address, and its servers, whose URLs may hold passwords."""

    pid: int
    address: str
    database_url: str
    redis_url: str


class SupervisorSilent(PressroomError):
    """A supervisor runs and does not answer: it was stopped (SIGSTOP), or its machine is overloaded."""

    code = "supervisor_silent"


def find_system(data: Path) -> System | None:
    """Return the system that runs on a data folder, or None. Raises SupervisorSilent."""
    try:
        found = System(**json.loads(_state_file(data).read_text()))
        ask(data, "ping")
    except (FileNotFoundError, NotADirectoryError, NotReady):
        return None
    return found


def settings_of_running(settings: Settings) -> Settings:
    """Return the settings with the servers' URLs: those that are set, else those of the running system.

    Raises NotReady when neither is there."""
    if settings.database_url and settings.redis_url:
        return settings
    system = find_system(settings.data)
    if system is None:
        raise _nothing_runs(settings.data)
    return settings.model_copy(
        update={
            "database_url": settings.database_url or system.database_url,
            "redis_url": settings.redis_url or system.redis_url,
        }
    )


def pools(data: Path) -> list[Pool]:
    """Return all programs that run, also those that can't be scaled."""
    return [Pool(**pool) for pool in ask(data, "pools")]


def scale(data: Path, name: str, processes: int) -> list[Pool]:
    """Change how many processes a pool has; return all programs that run."""
    return [Pool(**pool) for pool in ask(data, "scale", pool=name, processes=processes)]


def stop(data: Path) -> None:
    """Ask the system to stop; it drains after this returns."""
    ask(data, "stop")


def ask(data: Path, command: str, **arguments: Any) -> Any:
    """Send a command to the supervisor of a data folder and return its answer.

    Raises NotReady when none runs, SupervisorSilent, and what the supervisor refused as PressroomError."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(str(_socket(data)))
            connection.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline() or "{}")
    except TimeoutError as error:
        raise SupervisorSilent(
            f"The system on {data} did not answer for {PATIENCE_SECONDS:g} seconds. Try again; "
            "if it was stopped (SIGSTOP, Ctrl-Z), let it go on."
        ) from error
    except (OSError, ValueError) as error:
        raise _nothing_runs(data) from error
    if "answer" not in answer:
        raise PressroomError(answer.get("error", "The system stopped before it answered."), code=answer.get("code"))
    return answer["answer"]


def record(data: Path, system: System) -> None:
    """Write the state file atomically, readable by its owner alone."""
    write_private(_state_file(data), json.dumps(asdict(system)))


def forget(data: Path) -> None:
    """Delete the state file and the socket."""
    _state_file(data).unlink(missing_ok=True)
    _socket(data).unlink(missing_ok=True)


def was_killed(data: Path) -> bool:
    """Return whether the last system on DATA was killed. The caller must hold DATA's lock."""
    return _state_file(data).exists()


async def serve(data: Path, supervisor: Supervisor, stop: Callable[[], None]) -> asyncio.Server:
    """Answer commands; only the caller that holds DATA's lock may serve."""
    path = private_folder(sockets_folder(data)) / SOCKET
    path.unlink(missing_ok=True)

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await reader.readline()
            writer.write(json.dumps(_answer(line, supervisor, stop)).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):  # the client left, or its line is too long
            pass
        finally:
            writer.close()

    # By umask, because anybody could connect between bind and chmod.
    mask = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(converse, path)
    finally:
        os.umask(mask)


def _answer(line: bytes, supervisor: Supervisor, stop: Callable[[], None]) -> dict[str, Any]:
    try:
        match json.loads(line):
            case {"command": "ping"}:
                return {"answer": "pong"}
            case {"command": "pools"}:
                pass
            case {"command": "scale", "pool": str(name), "processes": int(processes)} if (
                0 <= processes <= MAX_PROCESSES
            ):
                supervisor.scale(name, processes)
            case {"command": "stop"}:
                stop()
                return {"answer": "stopping"}
            case _:
                return {"error": f"That is no command, or its number is not from 0 to {MAX_PROCESSES}."}
    except PressroomError as error:
        return {"error": error.message, "code": error.code}
    except ValueError:
        return {"error": "A command is one line of JSON."}
    return {"answer": [asdict(pool) for pool in supervisor.pools()]}


def _nothing_runs(data: Path) -> NotReady:
    return NotReady(
        f"No system is running on {data}. Start one with `pressroom up`, name its folder with --data, "
        "or set DATABASE_URL and REDIS_URL."
    )


def _state_file(data: Path) -> Path:
    return data / "system.json"


def _socket(data: Path) -> Path:
    return sockets_folder(data) / SOCKET
