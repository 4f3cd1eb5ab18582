"""Searches for a text keep to their time, and to one at a time for each account, whatever is looked through."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import uuid4

import pytest

from api.services import offer_cache
from api.services.offer_cache import Searches, SearchTooLong
from pipeline.database import AsyncDatabase, Statement


def slow(seconds: float) -> Statement[list[dict[str, Any]]]:
    return Statement("SELECT pg_sleep(%(seconds)s)::text AS slept", {"seconds": seconds})


async def with_searches(url: str, ask: Any) -> Any:
    database = AsyncDatabase(url, connections=2)
    await database.open()
    try:
        return await ask(Searches(database), database)
    finally:
        await database.close()


def test_a_search_that_takes_too_long_is_given_up_and_others_go_on(
    api_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offer_cache, "MOST_SECONDS", 0.2)

    async def ask(searches: Searches, database: AsyncDatabase) -> None:
        with pytest.raises(SearchTooLong, match="Narrow it"):
            await searches.run(uuid4(), slow(60))
        assert await searches.run(uuid4(), slow(0))
        # The limit was for the search alone.
        (limit,) = await database.run(Statement("SHOW statement_timeout"))
        assert limit == {"statement_timeout": "0"}

    asyncio.run(with_searches(api_database_url, ask))


def test_an_account_that_searches_much_lets_others_have_their_turn(api_database_url: str) -> None:
    busy, other = uuid4(), uuid4()
    ended: list[str] = []

    async def note(name: str, search: Awaitable[object]) -> None:
        await search
        ended.append(name)

    async def ask(searches: Searches, database: AsyncDatabase) -> None:
        many: Sequence[Awaitable[None]] = [note("busy", searches.run(busy, slow(0.01))) for _ in range(5)]
        await asyncio.gather(*many, note("other", searches.run(other, slow(0))))

    asyncio.run(with_searches(api_database_url, ask))
    assert ended == ["busy", "other", "busy", "busy", "busy", "busy"]
