"""Programs: command lines and environments of a system's processes; the Procfile has the same."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the servers' launchers import this module, and must start at once
    from collections.abc import Mapping

    from pipeline.settings import Settings

#: The folder that holds our packages: a clone, or site-packages.
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    """A command and how it stops. Later stages stop first; the drain of stage 0, the servers, is never cut short."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    drain: timedelta = timedelta(seconds=10)
    stopped_by: signal.Signals = signal.SIGTERM
    stage: int = 1
    scalable: bool = False
    descriptors: tuple[int, ...] = ()
    #: Its current folder; None: ours.
    folder: Path | None = None
    #: True if it is a module of Python's (`module`) that the fork server has imported.
    forked: bool = False


@dataclass(frozen=True)
class Server(Program):
    """An embedded server, and where it will listen."""

    drain: timedelta = timedelta(seconds=30)
    stage: int = 0
    url: str = ""


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a Python module; -P ignores a `scripts` or `api` in the current folder."""
    return (sys.executable, "-P", "-m", name, *arguments)


def environment(settings: Settings | None = None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a child's environment: ours, with the system's servers and data."""
    found = {**os.environ, **(extra or {})}
    if (ROOT / "pyproject.toml").exists():  # a clone: its packages need not be installed
        found["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    if settings is None:
        return found
    from pipeline.settings.settings_sources import CONFIG, config_file

    if file := config_file():  # children may have another current folder
        found[CONFIG] = str(file.resolve())
    found["PRESSROOM_DATA"] = str(settings.data.resolve())
    if settings.database_url and settings.redis_url:
        found |= {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}
    if settings.store.url and "://" not in settings.store.url:
        found["PRESSROOM_STORE__URL"] = str(Path(settings.store.url).resolve())
    return found


def api(settings: Settings, *, bind: str) -> tuple[str, ...]:
    """Return the API's command; `bind` is an address, or fd://N for an open socket.

    gunicorn runs code that is in its current folder, `gunicorn.conf.py` and all packages: run it in ROOT."""
    return module(
        "gunicorn",
        "api.server:app",
        "--worker-class=api.server.Worker",
        f"--bind={bind}",
        f"--workers={settings.api.processes}",
        f"--graceful-timeout={settings.api.drain_seconds}",
        "--no-control-socket",
        # A stream's worker stops within two seconds of its client; waiting requests have nothing to clean up.
        "--asgi-disconnect-grace-period=1",
    )


def pool(*queues: str) -> tuple[str, ...]:
    """Return the command of one pool process; several queues have a thread each."""
    return module("scripts.main", "work", *queues)


def sweep() -> tuple[str, ...]:
    return module("scripts.main", "sweep", "--forever")
