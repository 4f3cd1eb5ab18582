"""The database: statements that async and sync callers run alike."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout
from tenacity import AsyncRetrying, RetryError, Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from pipeline.database.pipelining import PipelinedConnection
from pipeline.errors import ServiceUnavailable

Result = TypeVar("Result")
Row = dict[str, Any]

#: SQLSTATEs after which the same statement may succeed in a moment: serialisation, deadlock, restart.
PASSING_STATES = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})
#: Classes of such states: a lost connection, and a server short of connections, memory or disk.
PASSING_CLASSES = ("08", "53")
#: Classes of states in which the server has undone the statement.
REFUSED_CLASSES = ("40001", "40P01", "53")
#: Makes the server notice within seconds that we are gone; by default it keeps our locks for hours. It is a statement
#: because poolers refuse these parameters in a connection's options.
ABOUT_US = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false),"
    " set_config('idle_in_transaction_session_timeout', '{idle_milliseconds}', false)"
)
#: Longest pause between two statements of one transaction.
LONGEST_PAUSE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Statement(Generic[Result]):
    """One round trip to the database, and how its rows are read.

    A statement that is not `repeatable` is not sent again after a lost connection: it may have been carried out."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[list[Row]], Result] = lambda rows: rows  # type: ignore[assignment, return-value]  # rows as they are
    repeatable: bool = True


def is_passing(error: BaseException) -> bool:
    """Return whether the cause is likely temporary: a restart, a lost connection, a deadlock."""
    if isinstance(error, psycopg.Error) and error.sqlstate is not None:
        return error.sqlstate.startswith(PASSING_CLASSES) or error.sqlstate in PASSING_STATES
    if isinstance(error, PoolClosed):
        return False  # by us: this process is ending
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout)


def is_refused(error: BaseException) -> bool:
    """Return whether the statement can't have been carried out: there was no connection, or the server refused it."""
    if isinstance(error, psycopg.Error) and error.sqlstate is not None:
        return error.sqlstate.startswith(REFUSED_CLASSES)
    return isinstance(error, PoolTimeout)


def _retry_options(patience: timedelta, *statements: Statement[Any]) -> dict[str, Any]:
    return {
        "retry": retry_if_exception(is_passing if all(one.repeatable for one in statements) else is_refused),
        "stop": stop_after_delay(patience),
        "wait": wait_random_exponential(multiplier=0.05, max=1),
        "reraise": False,
    }


def _pool_options(connections: int, *, prepare: bool) -> dict[str, Any]:
    return {
        "kwargs": {
            "autocommit": True,
            "row_factory": dict_row,
            "connect_timeout": 5,
            # A server that is gone without a word, over TCP: by default a statement would wait for it for hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            "prepare_threshold": 2 if prepare else None,
        },
        "min_size": 1,
        "max_size": connections,
        "timeout": 2,
        "reconnect_timeout": 2,
        "open": False,
    }


def _about_us() -> str:
    return ABOUT_US.format(idle_milliseconds=round(LONGEST_PAUSE.total_seconds() * 1_000))


def _tell(connection: "psycopg.Connection[Row]") -> None:
    connection.execute(_about_us())


async def _tell_async(connection: "psycopg.AsyncConnection[Row]") -> None:
    await connection.execute(_about_us())


class DatabaseUnavailable(ServiceUnavailable):
    """The database does not answer."""

    code = "database_unavailable"
    passes = True
    retry_after = timedelta(seconds=2)


def _unavailable(error: RetryError) -> DatabaseUnavailable:
    cause = type(error.last_attempt.exception()).__name__
    return DatabaseUnavailable(
        f"The database does not answer ({cause}). Nothing was charged; try again in a few seconds."
    )


def _interrupted() -> ServiceUnavailable:
    """Return the error of a statement that may have been carried out and must not be repeated."""
    return ServiceUnavailable(
        "The database went away in the middle of this request, which may have been carried out. Check, and send it"
        " again if it was not.",
        code="database_interrupted",
    )


class Database:
    """PostgreSQL for a worker or a command: it blocks, and waits while the server restarts."""

    def __init__(
        self, url: str, *, connections: int = 2, patience: timedelta = timedelta(seconds=20), prepare: bool = True
    ) -> None:
        self._patience = patience
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            url, configure=_tell, **_pool_options(connections, prepare=prepare)
        )

    def __enter__(self) -> "Database":
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Start connecting; does not wait for the server."""
        self._pool.open()

    def close(self) -> None:
        self._pool.close()

    def run(self, statement: Statement[Result]) -> Result:
        """Run one statement in a transaction of its own. Raises ServiceUnavailable when the server stays away."""
        result: Result = self._repeat(self._run, statement, [statement])
        return result

    def run_together(self, statements: Sequence[Statement[Any]]) -> list[Any]:
        """Run statements in one transaction and one round trip; raises what `run` raises for the first that fails.

        One with a value that PostgreSQL has no type for can't be sent; those before it are then committed."""
        results: list[Any] = self._repeat(self._run_together, statements, statements)
        return results

    def _repeat(self, send: Callable[[Any], Any], sent: Any, statements: Sequence[Statement[Any]]) -> Any:
        # The first try goes without the retry machinery, which takes as long as a statement: 50 us.
        may_repeat = is_passing if all(one.repeatable for one in statements) else is_refused
        try:
            return send(sent)
        except psycopg.Error as error:
            if not may_repeat(error):
                raise
        try:
            return Retrying(**_retry_options(self._patience, *statements))(send, sent)
        except RetryError as error:
            raise _unavailable(error) from error.last_attempt.exception()

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Run statements one after the other in one transaction, which is undone when the block raises.

        It is tried once: what goes wrong with the server is raised as psycopg's error."""
        with self._pool.connection() as connection, connection.transaction():
            yield Transaction(connection)

    def _run(self, statement: Statement[Result]) -> Result:
        with self._pool.connection() as connection:
            cursor = connection.execute(statement.sql, statement.parameters)
            result: Result = statement.read(cursor.fetchall())
            return result

    def _run_together(self, statements: Sequence[Statement[Any]]) -> list[Any]:
        if len(statements) == 1:
            return [self._run(statements[0])]
        with self._pool.connection() as connection:
            with ExitStack() as failed:
                # psycopg would rely on prepared statements that the server has dropped with the transaction.
                failed.callback(connection.close)
                # Without a transaction block, what is sent up to the pipeline's end is one transaction.
                with connection.pipeline():
                    cursors = [connection.execute(one.sql, one.parameters) for one in statements]
                results = [one.read(cursor.fetchall()) for one, cursor in zip(statements, cursors, strict=True)]
                failed.pop_all()
            return results


class Transaction:
    """A transaction that has begun; it ends with its block."""

    def __init__(self, connection: "psycopg.Connection[Row]") -> None:
        self._connection = connection

    def run(self, statement: Statement[Result]) -> Result:
        return statement.read(self._connection.execute(statement.sql, statement.parameters).fetchall())


class AsyncDatabase:
    """PostgreSQL for the API: never blocks the loop, and gives up early enough to answer the client."""

    def __init__(
        self, url: str, *, connections: int, patience: timedelta = timedelta(seconds=5), prepare: bool = True
    ) -> None:
        self._patience = patience
        self._pool: AsyncConnectionPool[PipelinedConnection] = AsyncConnectionPool(
            url,
            connection_class=PipelinedConnection,
            configure=_tell_async,
            **_pool_options(connections, prepare=prepare),
        )

    async def open(self) -> None:
        """Start connecting; does not wait for the server."""
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    async def run(self, statement: Statement[Result]) -> Result:
        """Run one statement in a transaction of its own. Raises ServiceUnavailable when the server stays away."""
        result: Result = await self._repeat(self._run, statement, [statement])
        return result

    async def run_together(self, statements: Sequence[Statement[Any]]) -> list[Any]:
        """Run statements in one transaction and one round trip; raises what `run` raises for the first that fails."""
        results: list[Any] = await self._repeat(self.try_together, statements, statements)
        return results

    async def _repeat(
        self, send: Callable[[Any], Awaitable[Any]], sent: Any, statements: Sequence[Statement[Any]]
    ) -> Any:
        # The first try goes without the retry machinery: it is on every request's path.
        may_repeat = is_passing if all(one.repeatable for one in statements) else is_refused
        try:
            try:
                return await send(sent)
            except psycopg.Error as error:
                if not may_repeat(error):
                    raise
            return await AsyncRetrying(**_retry_options(self._patience, *statements))(send, sent)
        except RetryError as error:
            raise _unavailable(error) from error.last_attempt.exception()
        except psycopg.Error as error:
            if is_passing(error):
                raise _interrupted() from error
            raise

    async def try_together(self, statements: Sequence[Statement[Any]]) -> list[Any]:
        """Run statements as `run_together` does, once: for a caller who repeats them otherwise."""
        # Not the pool's own block, which asks for a commit where there is none to make.
        connection = await self._pool.getconn()
        found = None
        try:
            found = await connection.run_together([(one.sql, one.parameters) for one in statements])
        finally:
            if found is None:
                await connection.close()
            await self._pool.putconn(connection)
        return [one.read(rows) for one, rows in zip(statements, found, strict=True)]

    async def _run(self, statement: Statement[Result]) -> Result:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(statement.sql, statement.parameters)
            result: Result = statement.read(await cursor.fetchall())
            return result
