"""Pipelining: statements of one transaction, sent to PostgreSQL with one write and read as they are answered.

psycopg's own pipeline mode asks the socket and writes for every statement: 32 of them are 32 polls and 32 writes, and
the server is woken by the first. Here all are written at once, and each connection keeps what it has found out about
its statements."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import psycopg
from psycopg import generators, pq
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer

Row = dict[str, Any]

_PLACEHOLDER = re.compile(r"%(?:\((\w+)\)s|%)")


@cache
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a statement with `$1` for `%(name)s`, as PostgreSQL has it, and the names in order."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        name = found[1]
        return "%" if name is None else f"${names.setdefault(name, len(names) + 1)}"

    return _PLACEHOLDER.sub(number, sql).encode(), tuple(names)


class _Known:
    """A statement as one connection knows it: how its values are written and its rows are read."""

    def __init__(self, connection: "PipelinedConnection", sql: str) -> None:
        self.query, self._names = _numbered(sql)
        self._transformer = Transformer(connection)
        self._wanted = [PyFormat.AUTO] * len(self._names)
        self._columns: tuple[str, ...] = ()
        self._column_types: tuple[int, ...] = ()
        #: Names of those that were prepared, by the types of their values.
        self.prepared: dict[tuple[int, ...], bytes] = {}

    def dump(self, parameters: Mapping[str, Any]) -> tuple[Sequence[Any], tuple[int, ...], list[pq.Format] | None]:
        """Return values as they are sent, with their types and formats."""
        values = self._transformer.dump_sequence([parameters[name] for name in self._names], self._wanted)
        return values, self._transformer.types or (), self._transformer.formats

    def load(self, result: Any) -> list[Row]:
        """Return the rows of a result."""
        types = tuple(result.ftype(column) for column in range(result.nfields))
        is_new = types != self._column_types
        if is_new:
            self._column_types = types
            self._columns = tuple((result.fname(column) or b"").decode() for column in range(result.nfields))
        self._transformer.set_pgresult(result, set_loaders=is_new)
        columns = self._columns
        rows = self._transformer.load_rows(0, result.ntuples, lambda values: dict(zip(columns, values, strict=True)))
        self._transformer.set_pgresult(None, set_loaders=False)  # a result may be large
        return rows


class PipelinedConnection(psycopg.AsyncConnection[Row]):
    """A connection that runs statements together; each is known to it from its second use on."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._statements: dict[str, _Known] = {}

    async def run_together(self, statements: Iterable[tuple[str, Mapping[str, Any]]]) -> list[list[Row]]:
        """Return the rows of each statement; all are one transaction. Raises psycopg's error of the first that fails.

        One with a value that PostgreSQL has no type for fails before any is sent. Close a connection on which anything
        failed: answers may be to come, and the server may not have what is said here to be prepared."""
        sends: list[Callable[[], None]] = []
        readers: list[_Known | None] = []
        for sql, parameters in statements:
            known = self._statements.get(sql)
            if known is None:
                known = self._statements[sql] = _Known(self, sql)
            self._add(known, parameters, sends, readers)
        results = await self.wait(_exchange(self.pgconn, sends, len(readers)))
        return [known.load(result) for known, result in zip(readers, results, strict=True) if known is not None]

    def _add(
        self,
        known: _Known,
        parameters: Mapping[str, Any],
        sends: list[Callable[[], None]],
        readers: list[_Known | None],
    ) -> None:
        """Add what sends a statement, and who reads each result that this has; a preparation's is read by nobody."""
        values, types, formats = known.dump(parameters)
        if self.prepare_threshold is None:
            sends.append(partial(self.pgconn.send_query_params, known.query, values, types, formats))
            readers.append(known)
            return
        name = known.prepared.get(types)
        if name is None:
            name = known.prepared[types] = b"pressroom_%x_%d" % (id(known), len(known.prepared))
            sends.append(partial(self.pgconn.send_prepare, name, known.query, types))
            readers.append(None)
        sends.append(partial(self.pgconn.send_query_prepared, name, values, formats))
        readers.append(known)


def _exchange(server: pq.abc.PGconn, sends: Sequence[Callable[[], None]], count: int) -> PQGen[list[Any]]:
    """Send all, then read so many results. All up to the pipeline's sync is one transaction."""
    server.enter_pipeline_mode()
    for send in sends:
        send()
    server.pipeline_sync()
    yield from generators.send(server)
    results = []
    for _ in range(count):
        for result in (yield from generators.fetch_many(server)):
            if result.status == pq.ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result)
            results.append(result)
    yield from generators.fetch_many(server)  # the answer to the sync
    server.exit_pipeline_mode()
    return results
