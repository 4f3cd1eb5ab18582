"""Prepare: the process that waits for the database, migrates it and opens the first account.

Its imports run while the servers start, and the supervisor stays small."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

from pipeline.accounts.first_account import FirstAccount
from pipeline.errors import NotReady, PressroomError, ServiceUnavailable
from pipeline.operations.child_processes import shimmed
from pipeline.settings import Settings
from scripts.console import Console
from scripts.system.embedded.postgres import create_database
from scripts.system.first_steps import keep_first, read_first
from scripts.system.programs import module

if TYPE_CHECKING:
    from pipeline.database import Database

#: How long an external server may be silent before its first answer; one that recovers is waited for.
PATIENCE = timedelta(seconds=60)
#: How often to say what is waited for.
TELL_EVERY = timedelta(seconds=10)
#: Between two tries, in seconds.
PAUSE_SECONDS = 0.5
#: The line by which the process says that the database answers.
ANSWERS = "the database answers"


async def run_preparation(
    address: str,
    *,
    embedded: bool,
    environment: Mapping[str, str],
    console: Console,
    when_database_answers: Callable[[], None],
) -> FirstAccount | None:
    """Run the process; return the first account's key and link until it has signed in. Raises NotReady.

    `address` is the service's, for the sign-in link. `when_database_answers` is called each time the database answers:
    it may go away again meanwhile."""
    ours, theirs = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *shimmed(module("scripts.system.prepare", address, *(["--embedded"] if embedded else []))),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    console.follow(ours, "prepare")
    try:
        output = process.stdout or asyncio.StreamReader()
        last_line = b""
        async for line in output:
            last_line = line
            if line.decode().strip() == ANSWERS:
                when_database_answers()
        if await process.wait():
            raise NotReady("The database could not be prepared; the lines above say why.")
        first = json.loads(last_line)
        return FirstAccount(**first) if first else None
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def main() -> None:
    """Write a line whenever the database answers, and finally the first account as JSON, null once it has signed in.

    The first argument is the service's address."""
    settings = Settings()
    try:
        first = prepare_patiently(settings, sys.argv[1], embedded="--embedded" in sys.argv)
    except PressroomError as error:
        sys.exit(error.message)
    except OSError as error:  # such as a full disk, where the first key is to be kept
        sys.exit(str(error))
    json.dump(first and asdict(first), sys.stdout)


def prepare_patiently(settings: Settings, address: str, *, embedded: bool) -> FirstAccount | None:
    """Prepare the database, and begin again if it goes away: all steps are safe to repeat. Raises NotReady.

    The first server to answer may belong to a killed system and be shutting down."""
    patience = PATIENCE
    while True:
        wait_for_database(settings.database_url or "", embedded=embedded, patience=patience)
        patience = timedelta.max  # it is there, and so its address is right
        sys.stdout.write(f"{ANSWERS}\n")
        sys.stdout.flush()
        try:
            return prepare(settings, address)
        except (psycopg.Error, ServiceUnavailable) as error:
            if not _passes(error):
                raise
            sys.stderr.write(f"the database went away while it was prepared, beginning again: {_first_line(error)}\n")
            time.sleep(PAUSE_SECONDS)


def wait_for_database(url: str, *, embedded: bool, patience: timedelta) -> None:
    """Return when the database answers, and create an embedded one; say what is waited for.

    An embedded server may take any time: its supervisor knows whether it starts. Raises NotReady when another one is
    silent for `patience`."""
    heard = time.monotonic()
    # An embedded one is just starting.
    told = time.monotonic() if embedded else -TELL_EVERY.total_seconds()
    while True:
        try:
            if embedded:
                return create_database(url)
            return psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            now = time.monotonic()
            if embedded or _says_no(url):
                heard = now
            if now - heard > patience.total_seconds():
                raise NotReady(f"The database does not answer: {error}. Check DATABASE_URL.") from error
            if now - told >= TELL_EVERY.total_seconds():
                sys.stderr.write(f"waiting for the database: {_first_line(error)}\n")
                told = now
            time.sleep(0.02 if embedded else 0.2)


def _says_no(url: str) -> bool:
    """Return whether a server rejects connections because it starts, recovers or shuts down."""
    return psycopg.pq.PGconn.ping(make_conninfo(url, connect_timeout=5).encode()) == psycopg.pq.Ping.REJECT


def _passes(error: psycopg.Error | ServiceUnavailable) -> bool:
    """Return whether the database has gone away, and may come back."""
    from pipeline.database import is_passing

    return isinstance(error, ServiceUnavailable) or is_passing(error)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def prepare(settings: Settings, address: str) -> FirstAccount | None:
    """Migrate; return the first account if it is new, or if its sign-in link can still be used.

    Key and link are kept in private files, their only copy."""
    # Imported late, because the API starts before them.
    from pipeline.accounts.accounts import create_first_account
    from pipeline.database import Database
    from pipeline.lifecycle.schema import is_up_to_date

    if not is_up_to_date(settings.database_url or ""):
        _migrate(settings.database_url or "")
    with Database(settings.database_url or "") as database:
        lasts = timedelta(hours=settings.dashboard.sign_in_link_hours)
        keep = partial(keep_first, address=address, data=settings.data)
        if first := create_first_account(database, keep, link_lasts=lasts):
            return first
        if first := _not_signed_in(database, settings.data):
            keep(first)
        return first


def _migrate(url: str) -> None:
    """Migrate. Raises the driver's errors, as the rest of the preparation does."""
    from sqlalchemy.exc import DBAPIError

    from pipeline.lifecycle.migrations import migrate

    try:
        migrate(url)
    except DBAPIError as error:
        if error.orig is None:
            raise
        raise error.orig from error


def _not_signed_in(database: "Database", data: Path) -> FirstAccount | None:
    """Return the first account of an earlier start while its link can be used: `make demo` may have seen that start."""
    from pipeline.accounts.sign_in import has_link

    first = read_first(data)
    return first if first and database.run(has_link(first.sign_in_token)) else None


if __name__ == "__main__":
    main()
