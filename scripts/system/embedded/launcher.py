"""Launcher: prepares an embedded server's folders and becomes the server (exec)."""

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import NotReady


def find_in_wheel(package: str, path: str) -> Path | None:
    """Return a file or folder of an installed package without importing it, or None."""
    wheel = importlib.util.find_spec(package)
    folders = (wheel.submodule_search_locations if wheel else None) or []
    return next((found for folder in folders if (found := Path(folder) / path).exists()), None)


def launch(prepare: Callable[..., list[str]]) -> None:
    """Become the server whose command `prepare` returns, given the paths and words of the command line."""
    folder, socket, *more = sys.argv[1:]
    try:
        command = prepare(Path(folder), Path(socket), *more)
    except NotReady as error:
        sys.stderr.write(f"{error.message}\n")
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606  # no shell is wanted
