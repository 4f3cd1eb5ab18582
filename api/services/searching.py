"""Searching: text searches run one at a time, for a few seconds.

Their duration is unpredictable: texts are stored compressed, and 8 MB may be a thousand times more."""

import asyncio
from typing import TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

from psycopg.errors import QueryCanceled

from pipeline.database import AsyncDatabase, Statement
from pipeline.errors import InvalidRequest
from pipeline.jobs.job_lists import MOST_SECONDS, within_seconds

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
