"""Grouping: statements that are asked for while others are on their way go out together, in one transaction.

Submissions of one account, each in a transaction of its own, queued for its row (docs/decisions/0011).
"""

from typing import Any, TypeVar

from pipeline.coalescing import Coalescer
from pipeline.database import AsyncDatabase, Statement

Result = TypeVar("Result")

#: Statements in one transaction: none waits for long, and no lock is held for long.
MOST = 32


class StatementCoalescer:
    """Runs repeatable statements; in a transaction that fails, each is run again by itself."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._coalescer: Coalescer[tuple[str, Statement[Any]], Any] = Coalescer(
            self._run_together, send_alone=self._run_alone, key=lambda asked: asked[0], limit=MOST
        )

    async def run(self, statement: Statement[Result], *, order: str = "") -> Result:
        """Run one statement. Raises what `AsyncDatabase.run` raises.

        `order` is that of their locks: with it no two transactions wait for each other."""
        if not statement.repeatable:
            raise ValueError("A statement that may not be repeated must go alone.")
        result: Result = await self._coalescer.ask((order, statement))
        return result

    async def _run_together(self, asked: list[tuple[str, Statement[Any]]]) -> list[Any]:
        return await self._database.run_together([statement for _, statement in asked])

    async def _run_alone(self, asked: tuple[str, Statement[Any]]) -> Any:
        return await self._database.run(asked[1])
