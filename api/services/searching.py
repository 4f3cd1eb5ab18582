"""Searching: who looks for a text of requests waits for its turn, and has a few seconds.

How long a search takes can't be told before: texts are stored compressed, and 8 MB may be a thousand times more.
"""

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
    """The search has used its time up."""

    code = "search_too_long"
    field = "q"
    message = (
        f"The search was given up after {MOST_SECONDS:g} seconds: there is too much text to read at once. Narrow it by"
        " from and to, by kind or by state."
    )


class Searches:
    """Runs one search at a time in a process. An account waits for its own before it waits for those of others."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._turn = asyncio.Semaphore(1)
        self._own: WeakValueDictionary[UUID | None, asyncio.Lock] = WeakValueDictionary()

    async def run(self, account_id: UUID | None, search: Statement[Result]) -> Result:
        """Run an account's search. Raises SearchTooLong."""
        own = self._own.setdefault(account_id, asyncio.Lock())
        async with own, self._turn:
            try:
                _, found = await self._database.run_together([within_seconds(MOST_SECONDS), search])
            except QueryCanceled as error:
                raise SearchTooLong from error
        result: Result = found
        return result
