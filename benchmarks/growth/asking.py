"""Asking: a statement is explained as it runs, which tells the pages it touched, its time and its WAL."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.rows import dict_row

from benchmarks.growth.calls import Call, Run
from benchmarks.growth.filling import Size
from pipeline.database import Statement


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one call; `pages` are the 8 kB pages that it touched."""

    pages: int
    milliseconds: float
    wal_bytes: int


class Asking:
    """One connection to the database of a size. Each call is made in a transaction that is undone."""

    def __init__(self, url: str, size: Size) -> None:
        self._connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)
        self.size = size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def ask(self, call: Call) -> Cost:
        """Make a call twice, with what it needs done before, and return what the second took: the first warms up."""
        for _ in range(1 if call.is_slow else 2):
            with self._connection.transaction(force_rollback=True):
                cost = self._explain(call.statement(Run(self._run, self.size)))
        return cost

    def _run(self, statement: Statement[Any]) -> Any:
        return statement.read(self._connection.execute(statement.sql, statement.parameters).fetchall())

    def _explain(self, statement: Statement[Any]) -> Cost:
        row = self._connection.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING off, FORMAT json) {statement.sql}", statement.parameters
        ).fetchone()
        assert row is not None
        (found,) = row["QUERY PLAN"]
        plan = found["Plan"]
        pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] + plan["Temp Read Blocks"]
        return Cost(pages, found["Execution Time"] + found["Planning Time"], plan["WAL Bytes"])
