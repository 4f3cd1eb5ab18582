"""Statement coalescer: statements that are asked for while a transaction runs go together in the next one.

Submissions of one account would otherwise queue for the lock on its row (docs/decisions/0011).
"""

from typing import Any, TypeVar

from pipeline.database import AsyncDatabase, Statement
from pipeline.database.coalescing import Coalescer

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

        Statements are sorted by `order`, so that all transactions lock rows in one order and none deadlock."""
        if not statement.repeatable:
            raise ValueError("A statement that may not be repeated must go alone.")
        result: Result = await self._coalescer.ask((order, statement))
        return result

    async def _run_together(self, asked: list[tuple[str, Statement[Any]]]) -> list[Any]:
        return await self._database.try_together([statement for _, statement in asked])

    async def _run_alone(self, asked: tuple[str, Statement[Any]]) -> Any:
        return await self._database.run(asked[1])
