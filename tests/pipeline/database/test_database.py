"""The database as the API and the workers reach it: what comes back is asked again, what may not be is told apart."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from pipeline.database import SQL, AsyncDatabase, Database, Statement, columns, database
from pipeline.errors import ServiceUnavailable

SAY: Statement[int] = Statement("SELECT 7 AS said", {}, lambda rows: int(rows[0]["said"]))
#: What may have been carried out when its connection is lost.
ONCE: Statement[Any] = Statement("SELECT pg_sleep(600)", repeatable=False)


def run(url: str, use: Callable[[AsyncDatabase], Awaitable[Any]]) -> Any:
    async def with_database() -> Any:
        database = AsyncDatabase(url, connections=1, patience=timedelta(seconds=60))
        await database.open()
        try:
            return await use(database)
        finally:
            await database.close()

    return asyncio.run(with_database())


def cut_others(url: str, *, asked: str = "") -> int:
    """Cut the other connections to this database, as a restart does; return how many there were.

    `asked`: only those whose last statement begins with it."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(
            "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND starts_with(query, %s)",
            [asked],
        ).fetchone()[0]


def raises(state: str) -> Statement[Any]:
    """Return a statement that the server refuses with a SQLSTATE."""
    return Statement(f"DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$")


def test_statements_that_go_together_are_sent_again_when_their_connection_was_cut(database_url: str) -> None:
    async def ask(database: AsyncDatabase) -> list[Any]:
        await database.run(SAY)
        assert await asyncio.to_thread(cut_others, database_url) == 1
        return await database.run_together([SAY, SAY])

    assert run(database_url, ask) == [7, 7]


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
def test_what_may_have_been_carried_out_is_not_sent_again_and_the_answer_says_so(
    database_url: str, together: bool
) -> None:
    async def ask(database: AsyncDatabase) -> ServiceUnavailable:
        asked = asyncio.create_task(database.run_together([SAY, ONCE]) if together else database.run(ONCE))
        # Not one that has just been opened: then nothing was sent, and it is sent again.
        while not await asyncio.to_thread(cut_others, database_url, asked=ONCE.sql):
            await asyncio.sleep(0.01)
        with pytest.raises(ServiceUnavailable) as failure:
            await asked
        return failure.value

    assert run(database_url, ask).code == "database_interrupted"


@pytest.mark.parametrize("state", ["53100", "53200", "53300"], ids=["disk full", "out of memory", "no connection"])
def test_a_server_that_lacks_something_now_is_asked_again_for_a_while(database_url: str, state: str) -> None:
    async def ask(database: AsyncDatabase) -> None:
        database._patience = timedelta(seconds=0.1)
        await database.run_together([SAY, raises(state)])

    with pytest.raises(ServiceUnavailable) as failure:
        run(database_url, ask)
    assert failure.value.code == "database_unavailable"
    with Database(database_url, patience=timedelta(seconds=0.1)) as database, pytest.raises(ServiceUnavailable):
        database.run(raises(state))


def test_a_transaction_that_its_host_was_cut_off_in_lets_its_locks_go(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LONGEST_PAUSE", timedelta(milliseconds=300))
    lock: Statement[Any] = Statement("SELECT pg_advisory_xact_lock(1) IS NULL")
    with (  # noqa: PT012  the block is the transaction
        Database(database_url) as silent,
        psycopg.connect(database_url, autocommit=True) as other,
        pytest.raises(psycopg.Error),
        silent.transaction() as transaction,
    ):
        transaction.run(lock)
        other.execute("SET lock_timeout = '60s'")
        other.execute("SELECT pg_advisory_xact_lock(1)")
        transaction.run(SAY)


def test_a_pool_whose_connections_are_all_in_use_is_waited_for_and_then_said_to_be_unavailable(
    database_url: str,
) -> None:
    with Database(database_url, connections=1, patience=timedelta(seconds=0.1)) as short:
        with short.transaction(), pytest.raises(ServiceUnavailable) as failure:
            short.run(ONCE)
        assert failure.value.code == "database_unavailable"
        assert short.run(SAY) == 7

    async def ask(database: AsyncDatabase) -> int:
        async with database._pool.connection():
            waiting = asyncio.create_task(database.run(SAY))
            await asyncio.sleep(2.5)  # longer than the pool lets anybody wait once
            assert not waiting.done()
        return await waiting

    assert run(database_url, ask) == 7


def test_only_a_fragment_becomes_part_of_a_statement() -> None:
    table, evil = SQL("job j"), "x' OR true --"

    made = SQL("SELECT {} FROM {table} WHERE j.kind = {kind} LIMIT {most}").format(
        columns(["id", 'a"b'], table="j"), table=table, kind=evil, most=10
    )

    assert made == """SELECT "j"."id", "j"."a""b" FROM job j WHERE j.kind = 'x'' OR true --' LIMIT 10"""
    assert SQL(" OR ").join([SQL("true"), evil]) == "true OR 'x'' OR true --'"
