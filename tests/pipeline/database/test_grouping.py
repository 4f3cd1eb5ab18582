"""Statements that are asked for together go out together, and each gets its own answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from payers import Payer
from psycopg.types.json import Jsonb
from workbench import submission

from pipeline.database import AsyncDatabase, Database, Statement
from pipeline.database.coalescing import StatementCoalescer
from pipeline.lifecycle import submit


@asynccontextmanager
async def open_database(database_url: str, *, connections: int = 2, **more: Any) -> AsyncIterator[AsyncDatabase]:
    database = AsyncDatabase(database_url, connections=connections, **more)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


def run(database_url: str, use: Callable[[StatementCoalescer], Awaitable[Any]]) -> Any:
    async def with_group() -> Any:
        async with open_database(database_url) as database:
            return await use(StatementCoalescer(database))

    return asyncio.run(with_group())


def say(number: int) -> Statement[tuple[int, int]]:
    """Return a number, and the transaction it was said in."""
    return Statement(
        "SELECT %(number)s::int AS number, pg_current_xact_id()::text::bigint AS said_in",
        {"number": number},
        lambda rows: (rows[0]["number"], rows[0]["said_in"]),
    )


def test_each_gets_its_own_answer_and_those_that_waited_share_a_transaction(database_url: str) -> None:
    async def ask(group: StatementCoalescer) -> list[tuple[int, int]]:
        first = asyncio.create_task(group.run(say(0)))
        await asyncio.sleep(0)  # it is on its way
        return await asyncio.gather(first, *(group.run(say(number)) for number in range(1, 20)))

    answers = run(database_url, ask)

    assert [number for number, _ in answers] == list(range(20))
    assert len({said_in for _, said_in in answers}) < 5


def test_those_of_a_transaction_are_sent_and_waited_for_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []
    wait = psycopg.AsyncConnection.wait

    async def counted(connection: Any, *arguments: Any, **options: Any) -> Any:
        waits.append(connection)
        return await wait(connection, *arguments, **options)

    async def ask() -> list[Any]:
        async with open_database(database_url, connections=1) as database:
            await database.run(say(0))
            monkeypatch.setattr(psycopg.AsyncConnection, "wait", counted)
            return await database.run_together([say(number) for number in range(32)])

    assert [number for number, _ in asyncio.run(ask())] == [*range(32)]
    assert len(waits) == 1


@pytest.mark.parametrize("prepare", [True, False], ids=["prepared", "not prepared"])
def test_values_of_any_type_come_back_as_they_were_sent(database_url: str, prepare: bool) -> None:
    values: list[Any] = [None, 7, 2**40, "100 %, ä", Jsonb({"a": [1]}), uuid4(), [1, None], timedelta(hours=1), b"x"]
    statements = [
        Statement("SELECT %(value)s AS value, '100 %%' AS percent, %(value)s AS again", {"value": value})
        for value in values
    ]

    async def ask() -> list[list[dict[str, Any]]]:
        async with open_database(database_url, prepare=prepare) as database:
            await database.run_together(statements)
            return await database.run_together([*statements, Statement("SELECT name FROM pg_prepared_statements")])

    *found, prepared = asyncio.run(ask())

    sent = [value.obj if isinstance(value, Jsonb) else value for value in values]
    assert [rows for [rows] in found] == [{"value": one, "percent": "100 %", "again": one} for one in sent]
    assert bool(prepared) == prepare


def test_a_value_that_can_not_be_sent_keeps_the_others_from_being_carried_out(
    database_url: str, database: Database, payer: Payer
) -> None:
    async def ask() -> None:
        async with open_database(database_url) as ours:
            await ours.run_together([submit(submission(payer)), Statement("SELECT %(it)s", {"it": object()})])

    with pytest.raises(psycopg.ProgrammingError):
        asyncio.run(ask())
    assert database.run(Statement("SELECT FROM job")) == []


def test_where_one_of_a_workers_statements_fails_none_is_carried_out(database: Database, payer: Payer) -> None:
    broken: Statement[Any] = Statement("SELECT 1 / %(zero)s::int", {"zero": 0})

    for _ in range(4):  # by then psycopg prepares what it sends, and must not believe in what was rolled back
        with pytest.raises(psycopg.errors.DivisionByZero):
            database.run_together([submit(submission(payer)), broken])
        assert database.run(Statement("SELECT FROM job")) == []

    assert [answer.outcome for answer in database.run_together([submit(submission(payer))])] == ["accepted"]


def test_submissions_that_go_together_take_their_turns_as_if_one_after_another(
    database_url: str, database: Database, payer: Payer
) -> None:
    async def ask(group: StatementCoalescer) -> None:
        wanted = [submission(payer, kind=kind) for kind in ("sketch", "portrait") for _ in range(4)]
        await asyncio.gather(*(group.run(submit(one), order=one.kind) for one in wanted))

    for _ in range(2):
        run(database_url, ask)

    rounds = database.run(Statement("SELECT kind, array_agg(round ORDER BY id) AS rounds FROM item GROUP BY kind"))
    assert {row["kind"]: row["rounds"] for row in rounds} == {"sketch": [*range(8)], "portrait": [*range(8)]}


def test_submissions_that_go_together_are_refused_past_the_most_open_items(
    database_url: str, database: Database, payer: Payer
) -> None:
    async def ask(group: StatementCoalescer) -> list[str]:
        wanted = [submission(payer, max_open_items=3) for _ in range(5)]
        return [one.outcome for one in await asyncio.gather(*(group.run(submit(one)) for one in wanted))]

    assert sorted(run(database_url, ask)) == ["accepted"] * 3 + ["too_many"] * 2
