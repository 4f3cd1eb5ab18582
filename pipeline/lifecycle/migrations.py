"""Migrations: bring a database to the tables and functions of this version, while processes of the one before work."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import OperationalError
from tenacity import RetryError, Retrying, retry_if_exception, stop_after_delay, wait_random

import models.migrations
from pipeline import lifecycle
from pipeline.errors import NotReady

#: How long a migration waits for a table. Others that want the table wait behind it, so this is short; and it is
#: half of what PostgreSQL takes to look for deadlocks: then it is the migration that gives way, and tries again.
LOCK_TIMEOUT = timedelta(milliseconds=500)
#: How long a migration that finds no moment for itself is tried again: longer than most backups read.
PATIENCE = timedelta(minutes=10)
#: Between two tries the others go on.
PAUSE_SECONDS = (0.2, 1.0)
#: The name of the lock that whoever migrates holds.
TURN = "pressroom migrate"


def migrate(url: str) -> None:
    """Run all migrations and install the life cycle's functions; safe to call at once from many places.

    Raises NotReady when the database is a later release's, or its tables are in use all the time."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with _turn(engine):
            for revision in _missing(engine):
                _upgrade(engine, revision)
            with engine.begin() as connection:
                _install_lifecycle(connection)
    finally:
        engine.dispose()


@contextmanager
def new_tables(url: str, revision: str) -> Iterator[psycopg.Connection[Any]]:
    """Make the tables as they were after a migration, and yield the connection whose transaction makes them.

    Raises NotReady when this release has no such migration."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with _turn(engine), engine.begin() as connection:
            config = alembic_config(connection)
            script = ScriptDirectory.from_config(config)
            if revision not in {one.revision for one in script.walk_revisions()}:
                raise NotReady(_later(revision, script.get_current_head() or ""))
            command.upgrade(config, revision)
            yield cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    finally:
        engine.dispose()


def alembic_config(connection: Connection) -> Config:
    """Return Alembic's configuration, bound to a connection whose transaction the caller commits."""
    config = Config()
    config.set_main_option("script_location", str(Path(models.migrations.__file__).parent))
    config.attributes["connection"] = connection
    return config


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """Let one system migrate at a time: of two that start together the second waits, then finds everything done."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:turn))"), {"turn": TURN})
        yield


def _missing(engine: Engine) -> list[str]:
    """Return the revisions that a database lacks, oldest first; of an empty one the last, which stands for all.

    Raises NotReady when it has one that this release does not know and that it has not worked with."""
    with engine.connect() as connection:
        script = ScriptDirectory.from_config(alembic_config(connection))
        head = script.get_current_head() or ""
        current = MigrationContext.configure(connection).get_current_revision()
        if current is None:
            return [head]
        steps = [one.revision for one in script.walk_revisions()]
        if current in steps:
            return steps[: steps.index(current)][::-1]
        if _has_functions(connection):
            # A later release has been here after this one. Its migrations only add, so that this one works on.
            return []
    raise NotReady(_later(current, head))


def _later(current: str, head: str) -> str:
    return (
        f"The database has migration {current}, which this release doesn't know: its last is {head}."
        " Start the release that made it, or restore a backup of this one."
    )


def _upgrade(engine: Engine, revision: str) -> None:
    """Run one migration, in a transaction of its own.

    In one for all, a table changed by the first would be out of reach for others until the last is done, and they would
    hold what that one waits for. Raises NotReady when its tables are in use all the time."""
    tries = Retrying(
        retry=retry_if_exception(_is_in_use), stop=stop_after_delay(PATIENCE), wait=wait_random(*PAUSE_SECONDS)
    )
    try:
        tries(_try_upgrade, engine, revision)
    except RetryError as error:
        raise NotReady(
            f"Migration {revision} has found no moment within {PATIENCE.total_seconds() / 60:.0f} minutes in which its"
            " tables were free. End long transactions (pg_stat_activity shows them), and run `pressroom migrate` again."
        ) from error.last_attempt.exception()


def _try_upgrade(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT // timedelta(milliseconds=1)}"))
        command.upgrade(alembic_config(connection), revision)


def _is_in_use(error: BaseException) -> bool:
    """Return whether a migration gave way to others that work."""
    in_use = psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected
    return isinstance(error, OperationalError) and isinstance(error.orig, in_use)


def _has_functions(connection: Connection) -> bool:
    known = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
    return connection.execute(known, {"schema": lifecycle.SCHEMA}).first() is not None


def _install_lifecycle(connection: Connection) -> None:
    if not _has_functions(connection):
        connection.exec_driver_sql(lifecycle.install_sql())
