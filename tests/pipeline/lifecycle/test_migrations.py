"""Migrations: tables and migrations agree, they run from anywhere and at once, and versions live side by side."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from payers import open_account
from servers import WAITS_FOR_US
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel
from workbench import LEASE, submission

import models  # noqa: F401  the tables register themselves
from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.lifecycle import Outcome
from pipeline.lifecycle.migrations import alembic_config, migrate, new_tables
from pipeline.lifecycle.schema import is_up_to_date, newest_revision


@pytest.fixture
def empty_url(make_database: Callable[..., str]) -> str:
    """A database with nothing in it."""
    return make_database(template="template0")


def schemas(url: str) -> list[str]:
    """Return the schemas that hold a version of the life cycle."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lifecycle%' ORDER BY oid")
        return [row[0] for row in found]


def execute(url: str, sql: str, *values: object) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(sql, values)


def work_through(url: str, run: Callable[[Statement], object] | None = None) -> None:
    """Take one job from submission to success."""
    with Database(url) as database:
        do = run or database.run
        payer = open_account(database, credits=5)
        do(lifecycle.submit(submission(payer, [5])))
        (item,) = do(lifecycle.claim({"sketch": 1}, lease_for=LEASE))
        assert do(lifecycle.heartbeat([lifecycle.Beat(item.lease_id, item.item_id)], lease_for=LEASE))
        (taken,) = do(lifecycle.report(item.lease_id, [Outcome(item.item_id, "done", 5)]))
        assert taken.job_state == "succeeded"
        assert database.run(discrepancies()) == []


def test_tables_and_migrations_agree(database_url):
    engine = create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, SQLModel.metadata) == []
    engine.dispose()


def test_checks_and_storage_of_the_tables_are_in_the_migrations_too(database_url, empty_url):
    # Alembic compares neither CHECKs, nor the conditions of partial indexes, nor fill factors.
    engine = create_engine(make_url(empty_url).set(drivername="postgresql+psycopg"))
    SQLModel.metadata.create_all(engine)
    engine.dispose()

    assert described(database_url) == described(empty_url)


def described(url: str) -> set[tuple[str, ...]]:
    """Return all constraints, indexes, columns, functions and storage options, as PostgreSQL prints them."""
    with psycopg.connect(url) as connection:
        return set(
            connection.execute("""
                SELECT r.relname, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
                JOIN pg_class r ON r.oid = conrelid WHERE connamespace = 'public'::regnamespace
                UNION ALL SELECT proname, pg_get_function_arguments(oid), prosrc FROM pg_proc
                WHERE pronamespace = 'public'::regnamespace AND proname LIKE '%_holds_to_rules'
                UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
                UNION ALL SELECT relname, 'options', reloptions::text FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
                UNION ALL SELECT table_name, column_name, concat_ws(' ', data_type, is_nullable, column_default,
                                                                   is_identity, identity_generation)
                FROM information_schema.columns WHERE table_schema = 'public'
            """).fetchall()
        ) - set(
            connection.execute("""
                SELECT r.relname, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
                JOIN pg_class r ON r.oid = conrelid WHERE r.relname = 'alembic_version'
                UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE tablename = 'alembic_version'
                UNION ALL SELECT 'alembic_version', 'options', NULL
                UNION ALL SELECT 'alembic_version', 'version_num', 'character varying NO NO'
            """).fetchall()
        )


def test_who_signed_in_to_an_account_becomes_its_owner_and_stays_signed_in(empty_url):
    with new_tables(empty_url, "0039") as before:
        (account,) = before.execute(
            "INSERT INTO account (name, tier, email, password_hash) VALUES ('Acme', 'pro', 'a@x.example', 'hash')"
            " RETURNING id"
        ).fetchone()
        before.execute(
            "INSERT INTO session (token_hash, account_id, expires_at) VALUES ('t', %s, 'infinity')", [account]
        )
    migrate(empty_url)

    with psycopg.connect(empty_url) as connection:
        found = connection.execute(
            "SELECT p.name, p.email, p.password_hash, m.role, a.email, a.password_hash FROM session s"
            " JOIN membership m USING (account_id, person_id) JOIN person p ON p.id = m.person_id"
            " JOIN account a ON a.id = m.account_id"
        ).fetchall()
    assert found == [("Acme", "a@x.example", "hash", "owner", None, None)]


def test_there_is_one_line_of_migrations(database_url):
    engine = create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        script = ScriptDirectory.from_config(alembic_config(connection))
        assert script.get_heads() == [MigrationContext.configure(connection).get_current_revision()]
        assert script.get_heads() == [newest_revision()]
    engine.dispose()


def test_a_database_is_up_to_date_once_tables_and_functions_are_this_version_s(empty_url):
    assert not is_up_to_date(empty_url)
    migrate(empty_url)
    assert is_up_to_date(empty_url)

    execute(empty_url, "UPDATE alembic_version SET version_num = '0001'")
    assert not is_up_to_date(empty_url)
    execute(empty_url, "UPDATE alembic_version SET version_num = %s", newest_revision())
    execute(empty_url, f"DROP SCHEMA {lifecycle.SCHEMA} CASCADE")
    assert not is_up_to_date(empty_url)


def test_migrating_again_keeps_everything(empty_url):
    migrate(empty_url)
    work_through(empty_url)
    before = described(empty_url)

    migrate(empty_url)

    assert described(empty_url) == before
    assert schemas(empty_url) == [lifecycle.SCHEMA]
    with Database(empty_url) as database:
        assert database.run(Statement("SELECT state FROM job")) == [{"state": "succeeded"}]
    work_through(empty_url)


def test_migrating_from_several_places_at_once_works(empty_url):
    with ThreadPoolExecutor(4) as systems:
        for migrated in [systems.submit(migrate, empty_url) for _ in range(4)]:
            migrated.result()

    assert schemas(empty_url) == [lifecycle.SCHEMA]
    work_through(empty_url)


def test_migrating_does_not_wait_for_work_that_goes_on(bench, bench_url):
    bench.job_of()
    with bench.transaction() as other:
        other.execute("SELECT FROM job FOR NO KEY UPDATE")
        migrating = threading.Thread(target=migrate, args=[bench_url])
        migrating.start()
        while migrating.is_alive():
            assert other.execute(WAITS_FOR_US).fetchall() == []
            migrating.join(timeout=0.01)
