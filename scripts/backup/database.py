"""Database: the running one or an embedded one started for this, dumped by PostgreSQL's program.

The newest programs here are used: they read servers of their own and older versions."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from pipeline.accounts.secret_box import KEY_FILE
from pipeline.errors import NotReady
from pipeline.operations.child_processes import shimmed
from pipeline.settings import Settings
from scripts.system.control import find_system
from scripts.system.embedded import postgres
from scripts.system.first_steps import FIRST_KEY, FIRST_SIGN_IN
from scripts.system.folders import only_system
from scripts.system.programs import environment

START_SECONDS = 60
#: True if a database has our tables, and so a system.
IS_USED = "SELECT to_regclass('public.account') IS NOT NULL"


@contextmanager
def any_database(settings: Settings) -> Iterator[str]:
    """Yield the URL of a system's database: set, running, or started here. Raises NotReady."""
    if settings.database_url is not None:
        yield settings.database_url
    elif system := find_system(settings.data):
        yield system.database_url
    elif versions := postgres.find_versions(settings.data):
        with only_system(settings.data), _started(settings.data, versions[0]) as url:
            yield url
    else:
        raise NotReady(f"There is no system in {settings.data}. Name its folder with --data, or set DATABASE_URL.")


@contextmanager
def empty_database(settings: Settings, *, replace: bool, aside: str) -> Iterator[str]:
    """Yield the URL of a database without a system: DATABASE_URL's, or a new embedded one.

    `replace` moves an existing embedded one to the folder `aside`, with copies of its key files. Raises NotReady if
    there is a system."""
    if settings.database_url is not None:
        if _is_used(settings.database_url):
            raise NotReady("The database of DATABASE_URL is not empty. Set it to an empty one.")
        yield settings.database_url
        return
    with only_system(settings.data):
        if _has_system(settings.data):
            if not replace:
                raise NotReady(f"There is a system in {settings.data}. --replace moves its database aside.")
            _keep_keys(settings.data, settings.data / "postgres" / aside)
            postgres.set_aside(settings.data, aside)
        with _started(settings.data, postgres.VERSION) as url:
            yield url


def _keep_keys(data: Path, aside: Path) -> None:
    aside.mkdir(mode=0o700)
    for name in (KEY_FILE, FIRST_KEY, FIRST_SIGN_IN):
        if (data / name).exists():
            shutil.copy2(data / name, aside / name)  # its mode as well: nobody else reads it


def dump(url: str, file: Path) -> None:
    """Dump a snapshot of a database to a file. Raises NotReady."""
    command = [find_program("pg_dump"), "--format=custom", f"--file={file}"]
    # Not on the command line, where everybody can read passwords.
    run = subprocess.run(command, env={**os.environ, **_variables(url)}, capture_output=True, text=True, check=False)
    if run.returncode:
        raise NotReady(f"pg_dump failed: {run.stderr.strip()}")


def find_program(name: str) -> str:
    """Return one of PostgreSQL's client programs. Raises NotReady."""
    try:
        found: str | None = str(postgres.find_binaries() / name)
    except NotReady:
        found = shutil.which(name)
    if found is None:
        raise NotReady(f"{name} is missing: install PostgreSQL's client programs.")
    return found


def _has_system(data: Path) -> bool:
    """Return whether an embedded database is in use; the remains of a failed restore are not."""
    versions = postgres.find_versions(data)
    if versions != [postgres.VERSION]:
        return bool(versions)
    with _started(data, postgres.VERSION) as url:
        return _is_used(url)


def _is_used(url: str) -> bool:
    with psycopg.connect(url) as connection:
        found = connection.execute(IS_USED).fetchone()
    return bool(found and found[0])


@contextmanager
def _started(data: Path, version: str) -> Iterator[str]:
    """Run the embedded server of a folder that the caller has locked. Raises NotReady."""
    server = postgres.server(data, version)
    log = data / "postgres.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            shimmed(server.argv, sent=server.stopped_by),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(server.url, process, log)
        yield server.url
    finally:
        process.send_signal(server.stopped_by)
        process.wait()
        log.unlink()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return postgres.create_database(url)
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
                raise NotReady(f"PostgreSQL does not start: {lines[-1]}") from None
            time.sleep(0.05)


def _variables(url: str) -> dict[str, str]:
    """Return a connection's parameters as libpq's environment variables."""
    names = {option.keyword.decode(): option.envvar for option in Conninfo.get_defaults()}
    found = {names.get(name): str(value) for name, value in conninfo_to_dict(url).items()}
    return {variable.decode(): value for variable, value in found.items() if variable is not None}
