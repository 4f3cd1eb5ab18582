"""A seeded simulation: clients, workers and the sweep as one scheduler over the real SQL, on a virtual clock.

Each actor has a connection of its own. The scheduler lets one act at a time, drawn from the seed: it sends a statement,
commits one whose transaction has stayed open meanwhile, loses a connection before or after a commit, or ends a process.
A statement that waits for another actor's lock stays unanswered until that one commits, as on a busy server, so
re-checks after a wait happen too. PostgreSQL's `now()` and `clock_timestamp()` are shadowed by functions that return
the simulation's time; nothing else is replaced."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pipeline import lifecycle
from pipeline.database import Statement

START = datetime(2026, 1, 10, tzinfo=UTC)
#: Seconds of real time between two looks whether a statement waits for a lock.
LOOK_SECONDS = 0.002

CLOCK = """
CREATE SCHEMA simulation;
CREATE UNLOGGED TABLE simulation.clock AS SELECT pg_catalog.now() AS time;
CREATE FUNCTION simulation.now() RETURNS timestamptz STABLE LANGUAGE sql
    AS $$ SELECT current_setting('simulation.now')::timestamptz $$;
CREATE FUNCTION simulation.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS $$ SELECT time FROM simulation.clock $$;
DO $$
DECLARE
    v_column record;
BEGIN
    FOR v_column IN
        SELECT d.adrelid::regclass AS relation, a.attname AS name
        FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE pg_get_expr(d.adbin, d.adrelid) IN ('now()', 'clock_timestamp()')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT simulation.now()', v_column.relation, v_column.name);
    END LOOP;
END $$;
"""


class LostConnectionError(Exception):
    """The connection broke; whether the transaction was committed is unknown to the caller."""


@dataclass(frozen=True)
class Do:
    """A statement to run; `committed` is told its answer once it is committed, even if the caller never hears it."""

    statement: Statement[Any]
    committed: Callable[[Any], None] = lambda answer: None


#: An actor yields statements and durations to sleep, and is sent the answers.
Life = Generator[Do | timedelta, Any, None]


@dataclass
class Actor:
    """A process with one connection. `live` starts its life, and again after each of its deaths."""

    name: str
    live: Callable[[], Life]
    connection: psycopg.AsyncConnection[Any]
    life: Life | None = None
    answer: Any = None
    wakes_at: datetime = START
    doing: Do | None = None  # its transaction is open
    task: asyncio.Task[Any] | None = None  # its statement waits for a lock


@dataclass
class Simulation:
    """One seed's run. `trace` tells what happened, step by step; the same seed tells the same."""

    seed: int
    monitor: psycopg.AsyncConnection[Any]
    schema: str
    #: Checks the invariants, after each commit; set before the first step.
    check: Callable[[], Awaitable[None]] = field(init=False)
    actors: list[Actor] = field(default_factory=list)
    now: datetime = START
    trace: list[str] = field(default_factory=list)
    is_calm: bool = False  # nothing breaks any more

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    async def run(self, steps: int) -> None:
        """Take so many steps, and check every invariant after each commit."""
        await self._set_clock()
        for _ in range(steps):
            await self._step()

    async def calm_down(self, is_over: Callable[[], Any], most: int = 4_000) -> None:
        """Let nothing break any more, and go on until all is over."""
        self.is_calm = True
        for _ in range(most):
            if not any(actor.doing or actor.task for actor in self.actors) and await is_over():
                return
            await self._step()
        raise AssertionError(f"After {most} quiet steps there is still work.")

    async def close(self) -> None:
        """Roll back what is open, so that the connections can serve another seed."""
        for actor in self.actors:
            if actor.task is not None:
                await self.monitor.execute("SELECT pg_cancel_backend(%s)", [actor.connection.info.backend_pid])
                await asyncio.wait({actor.task})
                actor.task.exception()
            if actor.life is not None:
                actor.life.close()
            await actor.connection.execute("ROLLBACK")

    async def _step(self) -> None:
        ready = [one for one in self.actors if one.task is None and (one.doing or one.wakes_at <= self.now)]
        idle = [one for one in self.actors if one.task is None]
        if not ready or (not any(one.doing for one in idle) and self.random.random() < 0.1):
            # Transactions last milliseconds: no clock moves far while one is open.
            self.now = max(self.now, min(one.wakes_at for one in idle))
            self.now += timedelta(milliseconds=self.random.randrange(2_000))
            await self._set_clock()
            return
        actor = self.random.choice(ready)
        if actor.doing is not None:
            await self._end(actor)
        elif not self.is_calm and actor.life is not None and self.random.random() < 0.04:
            self._die(actor)
        else:
            await self._go_on(actor)

    def _die(self, actor: Actor) -> None:
        assert actor.life is not None
        self._note(actor, "dies")
        actor.life.close()
        actor.life, actor.answer = None, None
        actor.wakes_at = self.now + timedelta(seconds=self.random.randrange(1, 90))

    async def _go_on(self, actor: Actor) -> None:
        actor.life = actor.life or actor.live()
        answer, actor.answer = actor.answer, None
        try:
            doing = actor.life.throw(answer) if isinstance(answer, Exception) else actor.life.send(answer)
        except StopIteration:
            actor.life = None
            return
        if isinstance(doing, timedelta):
            actor.wakes_at = self.now + doing
            return
        actor.doing = doing
        actor.task = asyncio.create_task(self._send(actor, doing.statement))
        await self._listen(actor)

    async def _send(self, actor: Actor, statement: Statement[Any]) -> Any:
        await actor.connection.execute("SELECT set_config('simulation.now', %s, false)", [self.now.isoformat()])
        await actor.connection.execute("BEGIN")
        sql = statement.sql.replace(lifecycle.SCHEMA, self.schema)
        found = await actor.connection.execute(sql, statement.parameters, prepare=True)
        return statement.read(await found.fetchall())

    async def _listen(self, actor: Actor) -> None:
        """Wait until a statement is answered, or waits for a lock."""
        task = actor.task
        assert task is not None
        while not (await asyncio.wait({task}, timeout=LOOK_SECONDS))[0]:
            blocked = await self.monitor.execute(
                "SELECT cardinality(pg_blocking_pids(%s)) > 0 AS waits", [actor.connection.info.backend_pid]
            )
            if (await blocked.fetchone() or {})["waits"]:
                self._note(actor, "waits")
                return
        actor.task, actor.answer = None, task.result()
        self._note(actor, "runs")
        if self.random.random() < 0.5:
            await self._end(actor)

    async def _end(self, actor: Actor) -> None:
        """Commit, or lose the connection before or after."""
        doing = actor.doing
        assert doing is not None
        luck = 1.0 if self.is_calm else self.random.random()
        if luck < 0.04:
            await actor.connection.execute("ROLLBACK")
            self._note(actor, "is cut off")
            actor.answer = LostConnectionError()
        else:
            await actor.connection.execute("COMMIT")
            self._note(actor, "commits")
            doing.committed(actor.answer)
            if luck < 0.08:
                self._note(actor, "is not answered")
                actor.answer = LostConnectionError()
        actor.doing = None
        for other in self.actors:  # in the order of the actors: who waited may go on now
            if other.task is not None:
                await self._listen(other)
        if luck >= 0.04:
            await self.check()

    async def _set_clock(self) -> None:
        await self.monitor.execute("UPDATE simulation.clock SET time = %s", [self.now])
        await self.monitor.execute("SELECT set_config('simulation.now', %s, false)", [self.now.isoformat()])

    def _note(self, actor: Actor, what: str) -> None:
        doing = actor.doing.statement.sql if actor.doing else ""
        function = doing.partition(f"{lifecycle.SCHEMA}.")[2].partition("(")[0]
        self.trace.append(f"{(self.now - START).total_seconds():8.3f} {actor.name} {what} {function}".rstrip())


async def connections(url: str, count: int) -> list[psycopg.AsyncConnection[Any]]:
    """Return connections with the simulation's clock; each may notice a deadlock at once."""
    opened = []
    for _ in range(count):
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row)
        await connection.execute("SET search_path = simulation, pg_catalog, public")
        await connection.execute("SET deadlock_timeout = '20ms'")
        await connection.execute("SET synchronous_commit = off")
        await connection.execute("SELECT set_config('simulation.now', %s, false)", [START.isoformat()])
        opened.append(connection)
    return opened
