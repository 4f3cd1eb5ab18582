"""The embedded PostgreSQL, which also listens on an address, and lets in who can reach that."""

import os
from functools import partial
from pathlib import Path

from scripts.system.embedded.launcher import launch
from scripts.system.embedded.postgres import VERSION, prepare


def listening(folder: Path, sockets: Path, address: str) -> list[str]:
    """Return the command of the server; the network of its address is not that of anybody else."""
    command = prepare(folder, sockets)
    rules = folder / VERSION / "pg_hba.conf"
    rules.write_text(f"{rules.read_text()}host all all {address.rpartition('.')[0]}.0/24 trust\n")
    return [*command, "-c", f"listen_addresses={address}"]


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    launch(partial(listening))
