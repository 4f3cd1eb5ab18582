"""Migrating at work: processes of the release before work on, whatever they hold, and may be started again."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from alembic import command
from servers import PATIENCE_SECONDS, WAITS_FOR_US
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from waiting import wait_for

from pipeline.errors import NotReady
from pipeline.lifecycle import migrations
from pipeline.lifecycle.migrations import alembic_config, migrate
from pipeline.lifecycle.schema import newest_revision

#: The release before: from its tables on, a migration changes that of jobs.
BEFORE = "0027"


@pytest.fixture
def before_url(make_database: Callable[..., str]) -> str:
    """A database with the tables of the release before."""
    url = make_database(template="template0")
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), BEFORE)
    engine.dispose()
    return url


@contextmanager
def migrating(url: str) -> Iterator[None]:
    """Migrate beside the block; what goes wrong is raised at its end."""
    with ThreadPoolExecutor(1) as other:
        ended = other.submit(migrate, url)
        yield
        ended.result()


def wait_for_migration(connection: psycopg.Connection) -> None:
    """Return when a migration waits for what a connection holds."""
    wait_for(
        lambda: connection.execute(WAITS_FOR_US).fetchall(),
        seconds=PATIENCE_SECONDS,
        about=lambda: "It waited for nothing.",
    )


def revision(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert row is not None
    return str(row[0])


def test_who_holds_one_table_gets_the_next_while_a_migration_waits(before_url, database_url):
    with psycopg.connect(before_url) as settling:
        settling.execute("LOCK TABLE job IN ROW EXCLUSIVE MODE")
        with migrating(before_url):
            wait_for_migration(settling)
            settling.execute("LOCK TABLE account IN ROW EXCLUSIVE MODE")
            settling.commit()

    assert revision(before_url) == revision(database_url)


def test_a_migration_gives_way_to_a_long_transaction(before_url, database_url):
    with psycopg.connect(before_url) as purging, psycopg.connect(before_url, autocommit=True) as api:
        api.execute("SET lock_timeout = '20s'")
        purging.execute("DELETE FROM job")
        with migrating(before_url):
            wait_for_migration(purging)
            # Behind the migration that waits; it would wait as long as the migration did.
            api.execute("DELETE FROM job")
            purging.rollback()

    assert revision(before_url) == revision(database_url)


def test_a_migration_that_finds_no_moment_says_what_to_do(before_url, monkeypatch):
    monkeypatch.setattr(migrations, "PATIENCE", migrations.LOCK_TIMEOUT)
    monkeypatch.setattr(migrations, "PAUSE_SECONDS", (0.0, 0.0))
    with psycopg.connect(before_url) as other:
        other.execute("DELETE FROM job")

        with pytest.raises(NotReady, match="End long transactions"):
            migrate(before_url)


def test_a_release_that_was_here_starts_again_after_a_later_one(database_url):
    with psycopg.connect(database_url) as later:
        later.execute("UPDATE alembic_version SET version_num = 'later'")

    migrate(database_url)

    assert revision(database_url) == "later"


def test_a_release_that_was_never_here_refuses_the_tables_of_a_later_one(before_url):
    with psycopg.connect(before_url) as later:
        later.execute("UPDATE alembic_version SET version_num = 'later'")

    with pytest.raises(NotReady, match=f"its last is {newest_revision()}"):
        migrate(before_url)
