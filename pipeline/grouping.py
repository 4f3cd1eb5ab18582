"""Grouping: statements that are asked for while others are on their way go out together, in one transaction.

Under load it saves most of what a round trip, a commit and a lock's change of hands cost; a statement that comes alone
goes out at once. (Submissions of one account, each in a transaction of its own, queued for its row.)
"""

import asyncio
from dataclasses import dataclass
from typing import Any, TypeVar

from pipeline.database import AsyncDatabase, Statement

Result = TypeVar("Result")

#: Statements in one transaction: none waits for long, and no lock is held for long.
MOST = 32


@dataclass(frozen=True, slots=True)
class _Asked:
    statement: Statement[Any]
    order: str
    answer: "asyncio.Future[Any]"


class Group:
    """Runs repeatable statements; `order` is the order of their locks, so that no two groups wait for each other."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._due: list[_Asked] = []
        self._sender: asyncio.Task[None] | None = None
        self._alone: set[asyncio.Task[None]] = set()

    async def run(self, statement: Statement[Result], *, order: str = "") -> Result:
        """Run one statement. Raises what `AsyncDatabase.run` raises."""
        if not statement.repeatable:
            raise ValueError("A statement that may not be repeated must go alone.")
        asked = _Asked(statement, order, asyncio.get_running_loop().create_future())
        self._due.append(asked)
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        result: Result = await asked.answer
        return result

    async def _send(self) -> None:
        try:
            while self._due:
                asked, self._due = self._due[:MOST], self._due[MOST:]
                # Whoever left before it was sent asked for nothing.
                waited_for = [one for one in asked if not one.answer.done()]
                await self._carry_out(sorted(waited_for, key=lambda one: one.order))
        finally:
            self._sender = None

    async def _carry_out(self, asked: list[_Asked]) -> None:
        try:
            results = await self._database.run_together([one.statement for one in asked])
        except Exception:  # noqa: BLE001  each is run again by itself, and meets its own error
            for one in asked:
                task = asyncio.create_task(self._carry_out_alone(one))
                self._alone.add(task)
                task.add_done_callback(self._alone.discard)
            return
        for one, result in zip(asked, results, strict=True):
            if not one.answer.done():
                one.answer.set_result(result)

    async def _carry_out_alone(self, one: _Asked) -> None:
        try:
            result = await self._database.run(one.statement)
        except Exception as error:  # noqa: BLE001  it is raised where the statement was asked for
            if not one.answer.done():
                one.answer.set_exception(error)
            return
        if not one.answer.done():
            one.answer.set_result(result)
