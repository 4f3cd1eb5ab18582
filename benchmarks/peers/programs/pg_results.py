"""Results in PostgreSQL, for queues that keep none: a table, and a notice to those who wait, in one statement."""

import asyncio

TABLE = "CREATE TABLE IF NOT EXISTS result (job_id bigint PRIMARY KEY, value jsonb NOT NULL)"
#: With `%s` of psycopg or `$1` of asyncpg.
KEEP = """
WITH kept AS (INSERT INTO result VALUES ({job_id}, {value}) ON CONFLICT (job_id) DO UPDATE SET value = excluded.value)
SELECT pg_notify('ended', {job_id}::text)"""
STORED = "SELECT job_id FROM result WHERE job_id = ANY({ids})"
CHANNEL = "ended"


class Waiting:
    """The requests of one process that wait for their jobs."""

    def __init__(self) -> None:
        self._events: dict[int, asyncio.Event] = {}

    def begin(self, job_id: int) -> asyncio.Event:
        """Return what is set when a notice tells of the job."""
        return self._events.setdefault(job_id, asyncio.Event())

    def end(self, job_id: int) -> None:
        """Nobody waits for the job any more."""
        self._events.pop(job_id, None)

    def told(self, payload: str) -> None:
        """Take a notice."""
        if event := self._events.get(int(payload)):
            event.set()
