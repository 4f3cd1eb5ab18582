"""Prepare: what a system does once its database answers and before anything else starts.

A process of its own, so that its imports run while the servers start, and the supervisor stays small.
"""

import json
import sys
import time
from datetime import timedelta

import psycopg

from pipeline.errors import NotReady, PressroomError
from pipeline.migrations import migrate
from pipeline.settings import Settings
from scripts.accounts import create_first_account
from scripts.embedded.postgres import create_database

#: A server that recovers from a crash replays up to `max_wal_size` before it answers.
PATIENCE = timedelta(seconds=60)


def main() -> None:
    """Wait for the database, make it what this version needs, and print the first account's key if there is one."""
    try:
        api_key = prepare(Settings(), embedded="--embedded" in sys.argv)
    except PressroomError as error:
        sys.stderr.write(f"{error.message}\n")
        sys.exit(1)
    json.dump({"api_key": api_key}, sys.stdout)


def prepare(settings: Settings, *, embedded: bool, patience: timedelta = PATIENCE) -> str | None:
    """Return the key of the first account, when this made one. Raises NotReady when the database stays away."""
    url = settings.database_url or ""
    until = time.monotonic() + patience.total_seconds()
    while True:
        try:
            if embedded:
                create_database(url)
            else:
                psycopg.connect(url, connect_timeout=5).close()
            break
        except psycopg.OperationalError as error:
            if time.monotonic() > until:
                raise NotReady(f"The database does not answer: {error}. Check DATABASE_URL.") from error
            time.sleep(0.02)
    migrate(url)
    return create_first_account(settings)


if __name__ == "__main__":
    main()
