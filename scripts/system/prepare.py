"""Prepare: the process that waits for the database, migrates it and opens the first account.

It is a process of its own, so that its imports run while the servers start, and the supervisor stays small.
"""

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

#: How long a server of somebody else's may say nothing at all before it has answered once; one that says that it
#: recovers is waited for.
PATIENCE = timedelta(seconds=60)
#: How often it is told what is waited for.
TELL_EVERY = timedelta(seconds=10)
#: Between two tries, in seconds.
PAUSE_SECONDS = 0.5
#: The line of the process that says that the database answers.
ANSWERS = "the database answers"


async def run_preparation(
    address: str,
    *,
    embedded: bool,
    environment: Mapping[str, str],
    console: Console,
    when_database_answers: Callable[[], None],
) -> FirstAccount | None:
    """Run the process; return what the first account gets, until it has signed in. Raises NotReady.

    `address`: where the service is, for the link that signs in; it may be another one at each start.
    `when_database_answers` is called each time that it does: it may go away again while it is prepared."""
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
    """Write to standard output a line whenever the database answers, and JSON when it is prepared.

    The first argument is the address of the service. The JSON is what the first account gets, until it has signed in;
    then it is null."""
    settings = Settings()
    try:
        first = prepare_patiently(settings, sys.argv[1], embedded="--embedded" in sys.argv)
    except PressroomError as error:
        sys.exit(error.message)
    except OSError as error:  # such as a full disk, where the first key is to be kept
        sys.exit(str(error))
    json.dump(first and asdict(first), sys.stdout)


def prepare_patiently(settings: Settings, address: str, *, embedded: bool) -> FirstAccount | None:
    """Prepare the database, and begin again when it goes away meanwhile: all steps are safe to repeat. Raises NotReady.

    The server that answers first may be that of a killed system, which is just shutting down."""
    patience = PATIENCE
    while True:
        wait_for_database(settings.database_url or "", embedded=embedded, patience=patience)
        patience = timedelta.max  # it is there, and so its address is right
        sys.stdout.write(f"{ANSWERS}\n")
        sys.stdout.flush()
        try:
            return prepare(settings, address)
        except Exception as error:
            # Whatever library it comes from: what passes is waited for, and everything else raised.
            if not _passes(error):
                raise
            sys.stderr.write(f"the database went away while it was prepared, beginning again: {_first_line(error)}\n")
            time.sleep(PAUSE_SECONDS)


def wait_for_database(url: str, *, embedded: bool, patience: timedelta) -> None:
    """Return when the database answers; an embedded one is created. Tells what it waits for.

    An embedded server is waited for as long as it takes: who started it knows whether it starts. Raises NotReady when
    another one has said nothing for `patience`."""
    heard = time.monotonic()
    # An embedded one is just starting, which is no news.
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
    """Return whether a server is there that takes nobody now: it starts, recovers or shuts down."""
    return psycopg.pq.PGconn.ping(make_conninfo(url, connect_timeout=5).encode()) == psycopg.pq.Ping.REJECT


def _passes(error: Exception) -> bool:
    """Return whether an error of the preparation says that the database has gone away, and may come back."""
    from pipeline.database import is_passing

    cause = getattr(error, "orig", None) or error  # SQLAlchemy wraps the driver's
    return isinstance(error, ServiceUnavailable) or is_passing(cause)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def prepare(settings: Settings, address: str) -> FirstAccount | None:
    """Migrate; return what the first account gets: if it was made now, or if its sign-in link can still be used.

    Key and link are written to private files, their only copy; the link has this address."""
    # Here, because these imports take a while, and the API starts before them.
    from pipeline.accounts.accounts import create_first_account
    from pipeline.database import Database
    from pipeline.lifecycle.schema_version import is_up_to_date

    if not is_up_to_date(settings.database_url or ""):
        from pipeline.lifecycle.migrations import migrate

        migrate(settings.database_url or "")
    with Database(settings.database_url or "") as database:
        lasts = timedelta(hours=settings.dashboard.sign_in_link_hours)
        keep = partial(keep_first, address=address, data=settings.data)
        if first := create_first_account(database, keep, link_lasts=lasts):
            return first
        if first := _not_signed_in(database, settings.data):
            keep(first)
        return first


def _not_signed_in(database: "Database", data: Path) -> FirstAccount | None:
    """Return what an earlier start has kept for the first account, while its link can be used: who sees the first
    start (`make demo`, a service manager) need not be who signs in."""
    from pipeline.accounts.sign_in import has_link

    first = read_first(data)
    return first if first and database.run(has_link(first.sign_in_token)) else None


if __name__ == "__main__":
    main()
