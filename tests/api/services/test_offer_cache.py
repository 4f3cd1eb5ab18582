"""The API's copy of what the pools offer: who asks seldom must not be told what was true an hour ago."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from api.services.offer_cache import OfferCache
from pipeline.database import AsyncDatabase, Database
from pipeline.offers.offers import Offer, Offers, publish_offers
from pipeline.settings import Settings

#: Seconds after which a copy is old.
AGE = 60.0


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def _patient_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.services.offer_cache.LOOK_SECONDS", 60.0)


def offer_cache(database: AsyncDatabase, clock: Clock) -> OfferCache:
    return OfferCache(database, Settings(api={"offers_max_age_seconds": AGE}), clock=clock)


def run(url: str, steps: Callable[[AsyncDatabase], Coroutine[Any, Any, Any]]) -> Any:
    async def opened() -> Any:
        database = AsyncDatabase(url, connections=2)
        await database.open()
        try:
            return await steps(database)
        finally:
            await database.close()

    return asyncio.run(opened())


def names(offers: Offers) -> list[str]:
    return [offer.engine for offer in offers.engines]


def publish(database: Database, engine: str) -> None:
    database.run(publish_offers([Offer("made_up", engine, ready=True)]))


def test_a_copy_that_nobody_asked_for_in_a_while_is_renewed_before_it_is_used(
    database: Database, database_url: str
) -> None:
    async def steps(opened: AsyncDatabase) -> list[list[str]]:
        clock = Clock()
        copy = offer_cache(opened, clock)
        publish(database, "first")
        seen = [names(await copy.offers())]
        publish(database, "second")
        clock.seconds += 3 * AGE
        return [*seen, names(await copy.offers())]

    assert run(database_url, steps) == [["first"], ["first", "second"]]


def test_a_copy_that_is_asked_for_all_the_time_is_renewed_without_anybody_waiting(
    database: Database, database_url: str
) -> None:
    async def steps(opened: AsyncDatabase) -> None:
        clock = Clock()
        copy = offer_cache(opened, clock)
        await copy.offers()
        publish(database, "new")
        clock.seconds += AGE
        assert names(await copy.offers()) == []
        clock.seconds += 0.1
        assert names(await copy.offers()) == []  # what was there, at once
        while names(await copy.offers()) != ["new"]:
            await asyncio.sleep(0.01)

    run(database_url, steps)
