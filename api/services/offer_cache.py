"""Offer cache: this process's copy of the pools' offers, renewed in the background while it is used."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

from psycopg.errors import QueryCanceled

from pipeline.database import AsyncDatabase, Statement
from pipeline.errors import InvalidRequest, ServiceUnavailable
from pipeline.jobs.job_lists import MOST_SECONDS, within_seconds
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers, read_offers
from pipeline.settings import Settings

log = get_logger(__name__)

#: Longest wait for a new copy, before the old or the shipped one is used.
LOOK_SECONDS = 1.0
#: A copy older than this many maximum ages may be days old; callers wait for a new one.
WAITED_FOR_AGES = 2


class OfferCache:
    """The offers: current, or else the last known or shipped ones."""

    def __init__(
        self, database: AsyncDatabase, settings: Settings, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._offers = Offers()
        self._refreshed_at: float | None = None
        self._refresher: asyncio.Task[None] | None = None
        self._is_waited_for = True

    async def offers(self) -> Offers:
        """Return the offers. An old copy is renewed in the background; a very old one is waited for."""
        age = math.inf if self._refreshed_at is None else self._clock() - self._refreshed_at
        if age > self._max_age and self._refresher is None:
            # Decided once: while the database is slow, later callers use the same copy.
            self._is_waited_for = age > WAITED_FOR_AGES * self._max_age
            self._refresher = asyncio.create_task(self._refresh())
        if self._is_waited_for and self._refresher is not None:
            await asyncio.wait({self._refresher}, timeout=LOOK_SECONDS)
        return self._offers

    @property
    def _max_age(self) -> float:
        return self._settings.api.offers_max_age_seconds

    async def _refresh(self) -> None:
        try:
            found: list[Offer] = await self._database.run(read_offers())
            fresh = order_offers(self._settings, found)
            if fresh != self._offers:  # an unchanged copy keeps what was derived from it
                self._offers = fresh
        except ServiceUnavailable as error:
            log.warning("offers not read, serving the last known ones", error=error.message)
        finally:
            self._refreshed_at = self._clock()
            self._refresher = None


Result = TypeVar("Result")


class SearchTooLong(InvalidRequest):
    """The search took too long."""

    code = "search_too_long"
    field = "q"
    message = (
        f"The search was stopped after {MOST_SECONDS:g} seconds: there is too much text. Narrow it by from and to, kind"
        " or state."
    )


class Searches:
    """Runs one search at a time; an account's searches queue up before those of others."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._turn = asyncio.Semaphore(1)
        self._own: WeakValueDictionary[UUID | None, asyncio.Lock] = WeakValueDictionary()

    async def run(self, account_id: UUID | None, search: Statement[Result]) -> Result:
        own = self._own.setdefault(account_id, asyncio.Lock())
        async with own, self._turn:
            try:
                _, found = await self._database.run_together([within_seconds(MOST_SECONDS), search])
            except QueryCanceled as error:
                raise SearchTooLong from error
        result: Result = found
        return result
