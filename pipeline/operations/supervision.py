"""Supervision: how other processes ask the supervisor of a `pressroom up`, over a unix socket of its user alone.

Request and answer are one line of JSON each. scripts/system/control.py answers."""

import hashlib
import json
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import NotReady, PressroomError
from pipeline.operations.child_processes import SUPERVISOR

#: A supervisor answers within milliseconds, on a busy machine within seconds; a stopped one (SIGSTOP) never does.
PATIENCE_SECONDS = 20.0
#: Most processes of a pool.
MAX_PROCESSES = 256
SOCKET = "control.sock"
#: A unix socket's path has at most 103 bytes on macOS and 107 on Linux.
MAX_SOCKET_BYTES = 103
#: The longest path in the folder.
LONGEST_NAME = "/postgres/.s.PGSQL.5432"


@dataclass(frozen=True)
class Pool:
    """A program's running processes."""

    name: str
    wanted: int
    pids: list[int]
    restarts: int
    scalable: bool
    #: How many of its processes the kernel has killed for memory.
    out_of_memory: int = 0


class SupervisorSilent(PressroomError):
    """A supervisor runs and does not answer: it was stopped (SIGSTOP), or its machine is overloaded."""

    code = "supervisor_silent"


def is_supervised() -> bool:
    """Return whether a supervisor has started this process, or one that has started it."""
    return SUPERVISOR in os.environ


def sockets_folder(data: Path) -> Path:
    """Return the folder of a system's unix sockets: in DATA, or in a temporary folder where that path is too long."""
    folder = data.resolve() / "run"
    if len(os.fsencode(folder)) > MAX_SOCKET_BYTES - len(LONGEST_NAME):
        name = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"pressroom-{os.geteuid()}-{name}"
    return folder


def pools(data: Path, *, patience_seconds: float | None = None) -> list[Pool]:
    """Return all programs that run, also those that can't be scaled. Raises what `ask` raises."""
    return [Pool(**pool) for pool in ask(data, "pools", patience_seconds=patience_seconds)]


def scale(
    data: Path,
    name: str,
    processes: int,
    *,
    most: int | None = None,
    keep: bool = True,
    patience_seconds: float | None = None,
) -> list[Pool]:
    """Change how many processes a pool has; return all programs that run. Raises what `ask` raises.

    With `most`, it may grow to so many. `keep` applies it to later starts too."""
    kept = {"most": most or processes, "keep": keep}
    answer = ask(data, "scale", patience_seconds=patience_seconds, pool=name, processes=processes, **kept)
    return [Pool(**pool) for pool in answer]


def ask(data: Path, command: str, *, patience_seconds: float | None = None, **arguments: Any) -> Any:
    """Send a command to the supervisor of a data folder and return its answer.

    Raises NotReady when none runs, SupervisorSilent, and what the supervisor refused as PressroomError."""
    patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(patience)
            connection.connect(str(sockets_folder(data) / SOCKET))
            connection.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline() or "{}")
    except TimeoutError as error:
        raise SupervisorSilent(
            f"The system on {data} did not answer for {patience:g} seconds. Try again; "
            "if it was stopped (SIGSTOP, Ctrl-Z), let it go on."
        ) from error
    except (OSError, ValueError) as error:
        raise nothing_runs(data) from error
    if "answer" not in answer:
        raise PressroomError(answer.get("error", "The system stopped before it answered."), code=answer.get("code"))
    return answer["answer"]


def nothing_runs(data: Path) -> NotReady:
    """Return the error of a data folder on which no system runs."""
    return NotReady(
        f"No system is running on {data}. Start one with `pressroom up`, name its folder with --data, "
        "or set DATABASE_URL and REDIS_URL."
    )
