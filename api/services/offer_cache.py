"""Offer cache: this process's copy of what the pools offer; one that is in use is renewed in the background."""

import asyncio
import math
import time
from collections.abc import Callable

from pipeline.database import AsyncDatabase
from pipeline.errors import ServiceUnavailable
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers, read_offers
from pipeline.settings import Settings

log = get_logger(__name__)

#: How long a caller waits for a new copy; then it gets the old one, or the offers that are shipped.
LOOK_SECONDS = 1.0
#: A copy older than so many maximum ages is waited for: it was not in use, and may be days old.
WAITED_FOR_AGES = 2


class OfferCache:
    """The offers; while the database is away, the last known ones, or those that are shipped."""

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
        """Return the offers. An old copy is renewed in the background; for a very old one the caller waits."""
        age = math.inf if self._refreshed_at is None else self._clock() - self._refreshed_at
        if age > self._max_age and self._refresher is None:
            # Decided by the age at the start: while the database is slow, later callers go on with the same copy.
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
