"""Run seeds of the simulation against one database: `make simulate SEEDS=10000 FIRST=0`."""

import argparse
import asyncio
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from uuid import UUID

import psycopg
from actors import World, client, operator, sweep, worker
from invariants import Invariants
from servers import start_postgres
from simulation import CLOCK, Actor, Simulation, connections

from pipeline import lifecycle
from pipeline.lifecycle.migrations import migrate
from scripts.system.embedded.roles import OWNER, ROLE

STEPS = 250
TABLES = ("pause", "item", "job", "ended_job", "credit_entry", "key_spending", "api_key", "account", "person")
LIVES = {
    "client 1": client, "client 2": client, "worker 1": worker, "worker 2": worker, "worker 3": worker,
    "sweep 1": sweep, "sweep 2": sweep, "operator": operator,
}  # fmt: skip
#: Credits of the two accounts, and what the key of each may use in the month.
CREDITS, KEY_LIMITS = (60, 12), (40, None)


class Seeds:
    """A database in which one seed after another is run."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(CLOCK)
        self._loop = asyncio.Runner()
        self._connections = self._loop.run(connections(url, len(LIVES) + 1))

    def run(self, seed: int, schema: str = lifecycle.SCHEMA) -> list[str]:
        """Run one seed with the functions of a schema, and return its trace.

        Raises AssertionError, with the last steps in a note, where an invariant is broken."""
        return self._loop.run(self._run(seed, schema))

    def run_all(self, seeds: Iterable[int], schema: str = lifecycle.SCHEMA) -> None:
        """Run one seed after another."""
        for seed in seeds:
            self.run(seed, schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            self._loop.run(connection.close())
        self._loop.close()

    async def _open(self, schema: str, number: int) -> tuple[UUID, UUID]:
        account, key = UUID(int=number + 1), UUID(int=number + 101)
        opened = lifecycle.open_account(
            account, str(number), "pro", CREDITS[number], key_id=key, key_name="test", key_hash=key.bytes, hint="test"
        )
        monitor = self._connections[0]
        await monitor.execute(opened.sql.replace(lifecycle.SCHEMA, schema), opened.parameters)
        await monitor.execute("UPDATE api_key SET credits_per_month = %s WHERE id = %s", [KEY_LIMITS[number], key])
        return account, key

    async def _run(self, seed: int, schema: str) -> list[str]:
        simulation = Simulation(seed, self._connections[0], schema)
        for table in TABLES:  # a tenth of the time of TRUNCATE for a few rows
            await simulation.monitor.execute(f"DELETE FROM {table}")
        payers = [await self._open(schema, number) for number in range(len(CREDITS))]
        world = World(simulation, payers)
        invariants = Invariants(world)
        simulation.check = invariants.check
        simulation.actors = [
            Actor(name, partial(live, world), connection)
            for (name, live), connection in zip(LIVES.items(), self._connections[1:], strict=True)
        ]
        try:
            await simulation.run(STEPS)
            await simulation.calm_down(invariants.is_over)
        except Exception as error:
            error.add_note(f"Seed {seed}. The last steps:\n" + "\n".join(simulation.trace[-30:]))
            raise
        finally:
            await simulation.close()
        return simulation.trace


def main() -> None:
    """Run many seeds; print the first that breaks an invariant, which replays it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=10_000)
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="pressroom-simulation-") as folder, start_postgres(Path(folder)) as url:
        owner = url.replace(ROLE, OWNER)
        migrate(owner)
        began, steps = time.monotonic(), 0
        with Seeds(owner) as seeds:
            for seed in range(asked.first, asked.first + asked.seeds):
                steps += len(seeds.run(seed))
                if seed % 100 == 99:
                    print(f"seed {seed}: {steps / (time.monotonic() - began):.0f} steps a second", flush=True)
    print(f"{asked.seeds:,} seeds, {steps:,} steps; every invariant held after each.")


if __name__ == "__main__":
    main()
