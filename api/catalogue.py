"""Catalogue: this process's copy of what the pools offer, never waited for once it is there."""

import asyncio
import time

from pipeline.database import AsyncDatabase
from pipeline.errors import ServiceUnavailable
from pipeline.log import get_logger
from pipeline.offers import Offer, Offers, order_offers, read_offers
from pipeline.settings import Settings

log = get_logger(__name__)

#: How long the first callers wait before they get what is shipped.
FIRST_LOOK_SECONDS = 1.0


class Catalogue:
    """The offers; while the database is away, the last known ones, or those that are shipped."""

    def __init__(self, database: AsyncDatabase, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._offers = Offers()
        self._refreshed_at: float | None = None
        self._refresher: asyncio.Task[None] | None = None

    async def offers(self) -> Offers:
        """Return what can be had now. The first callers wait a moment for the database, later ones never."""
        is_old = self._refreshed_at is None or time.monotonic() > self._refreshed_at + self._max_age
        if is_old and self._refresher is None:
            self._refresher = asyncio.create_task(self._refresh())
        if self._refreshed_at is None and self._refresher is not None:
            await asyncio.wait({self._refresher}, timeout=FIRST_LOOK_SECONDS)
        return self._offers

    @property
    def _max_age(self) -> float:
        return self._settings.api.offers_max_age_seconds

    async def _refresh(self) -> None:
        try:
            found: list[Offer] = await self._database.run(read_offers())
            fresh = order_offers(self._settings, found)
            if fresh != self._offers:  # what is kept with an unchanged copy is worth keeping
                self._offers = fresh
        except ServiceUnavailable as error:
            log.warning("offers not read, serving the last known ones", error=error.message)
        finally:
            self._refreshed_at = time.monotonic()
            self._refresher = None
