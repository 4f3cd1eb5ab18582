"""Control: finds the running system of a data folder, and answers commands to its supervisor.

The asking side is pipeline/operations/supervision.py, which the API uses too. `DATA/system.json` has the addresses of
the API and the servers; it is valid only while the supervisor answers."""

import asyncio
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import NotReady, PressroomError
from pipeline.operations.supervision import MAX_PROCESSES, SOCKET, ask, nothing_runs, sockets_folder
from pipeline.settings import Settings
from pressroom.finding import remember
from scripts.system.folders import private_folder, write_private
from scripts.system.sizing.bounds import keep_bounds
from scripts.system.supervisor import Supervisor


@dataclass(frozen=True)
class System:
    """A running system: its supervisor's pid, and URLs, which may hold passwords."""

    pid: int
    address: str
    database_url: str
    redis_url: str


def find_system(data: Path) -> System | None:
    """Return the system that runs on a data folder, if any. Raises SupervisorSilent."""
    try:
        found = System(**json.loads(_state_file(data).read_text()))
        ask(data, "ping")
    except (FileNotFoundError, NotADirectoryError, NotReady):
        return None
    return found


def settings_of_running(settings: Settings) -> Settings:
    """Return the settings with the servers' URLs, by default the running system's. Raises NotReady if none runs."""
    if settings.database_url and settings.redis_url:
        return settings
    system = find_system(settings.data)
    if system is None:
        raise nothing_runs(settings.data)
    return settings.model_copy(
        update={
            "database_url": settings.database_url or system.database_url,
            "redis_url": settings.redis_url or system.redis_url,
        }
    )


def record(data: Path, system: System) -> None:
    """Write the state file, readable by its owner alone, and note where it is."""
    write_private(_state_file(data), json.dumps(asdict(system)))
    remember(data)


def forget(data: Path) -> None:
    """Delete the state file and the socket."""
    _state_file(data).unlink(missing_ok=True)
    _socket(data).unlink(missing_ok=True)


def was_killed(data: Path) -> bool:
    """Return whether the last system on DATA was killed. The caller must hold DATA's lock."""
    return _state_file(data).exists()


async def serve(data: Path, supervisor: Supervisor) -> asyncio.Server:
    """Answer commands; only the caller that holds DATA's lock may serve."""
    path = private_folder(sockets_folder(data)) / SOCKET
    path.unlink(missing_ok=True)

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await reader.readline()
            writer.write(json.dumps(_answer(line, data, supervisor)).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):  # the client left, or its line is too long
            pass
        finally:
            writer.close()

    # A chmod after the bind would leave a moment in which anybody could connect.
    mask = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(converse, path)
    finally:
        os.umask(mask)


def _answer(line: bytes, data: Path, supervisor: Supervisor) -> dict[str, Any]:
    try:
        match json.loads(line):
            case {"command": "ping"}:
                return {"answer": "pong"}
            case {"command": "pools"}:
                pass
            case {"command": "scale", "pool": str(name), "processes": int(processes), **how} if (
                0 <= processes <= (most := int(str(how.get("most", processes)))) <= MAX_PROCESSES
            ):
                supervisor.scale(name, processes)
                if how.get("keep", True):
                    keep_bounds(data, name, processes, most)
            case _:
                return {"error": f"Unknown command, or a number that is not from 0 to {MAX_PROCESSES}."}
    except PressroomError as error:
        return {"error": error.message, "code": error.code}
    except ValueError:
        return {"error": "A command is one line of JSON."}
    return {"answer": [asdict(pool) for pool in supervisor.pools()]}


def _state_file(data: Path) -> Path:
    return data / "system.json"


def _socket(data: Path) -> Path:
    return sockets_folder(data) / SOCKET
