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
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from pipeline.errors import NotReady, PressroomError
from pipeline.first_account import FirstAccount
from pipeline.processes import shimmed
from pipeline.settings import Settings
from scripts.console import Console
from scripts.system.embedded.postgres import create_database
from scripts.system.first_steps import read_first
from scripts.system.programs import module

if TYPE_CHECKING:
    from pipeline.database import Database

#: A server that recovers from a crash replays up to `max_wal_size` before it answers.
PATIENCE = timedelta(seconds=60)


async def run_preparation(
    *, embedded: bool, environment: Mapping[str, str], console: Console, when_database_answers: Callable[[], None]
) -> FirstAccount | None:
    """Run the process; return what the first account gets, until it has signed in. Raises NotReady."""
    ours, theirs = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *shimmed(module("scripts.system.prepare", *(["--embedded"] if embedded else []))),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    console.follow(ours, "prepare")
    try:
        output = process.stdout or asyncio.StreamReader()
        if await output.readline():
            when_database_answers()
        last_line = await output.readline()
        if await process.wait():
            raise NotReady("The database could not be prepared; the lines above say why.")
        first = json.loads(last_line)
        return FirstAccount(**first) if first else None
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def main() -> None:
    """Write two lines to standard output: one when the database answers, and JSON when it is prepared.

    The JSON is what the first account gets, until it has signed in, or null."""
    settings = Settings()
    try:
        wait_for_database(settings.database_url or "", embedded="--embedded" in sys.argv)
        sys.stdout.write("the database answers\n")
        sys.stdout.flush()
        first = prepare(settings)
    except PressroomError as error:
        sys.stderr.write(f"{error.message}\n")
        sys.exit(1)
    json.dump(first and asdict(first), sys.stdout)


def wait_for_database(url: str, *, embedded: bool, patience: timedelta = PATIENCE) -> None:
    """Return when the database answers; an embedded one is created. Raises NotReady after `patience`."""
    until, said = time.monotonic() + patience.total_seconds(), embedded
    while True:
        try:
            if embedded:
                return create_database(url)
            return psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if time.monotonic() > until:
                raise NotReady(f"The database does not answer: {error}. Check DATABASE_URL.") from error
            if not said:
                sys.stderr.write(f"waiting for the database: {error}\n")
                said = True
            time.sleep(0.02 if embedded else 0.2)


def prepare(settings: Settings) -> FirstAccount | None:
    """Migrate; return what the first account gets: if it was made now, or if its sign-in link can still be used."""
    # Here, because these imports take half a second, and the API starts before them.
    from pipeline.accounts import create_first_account
    from pipeline.database import Database
    from pipeline.migrations import migrate

    migrate(settings.database_url or "")
    with Database(settings.database_url or "") as database:
        lasts = timedelta(hours=settings.dashboard.sign_in_link_hours)
        return create_first_account(database, link_lasts=lasts) or _not_signed_in(database, settings.data)


def _not_signed_in(database: "Database", data: Path) -> FirstAccount | None:
    """Return what an earlier start has kept for the first account, while its link can be used: who sees the first
    start (`make demo`, a service manager) need not be who signs in."""
    from pipeline.sign_in import has_link

    first = read_first(data)
    return first if first and database.run(has_link(first.sign_in_token)) else None


if __name__ == "__main__":
    main()
