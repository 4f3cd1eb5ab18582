"""Each call reads the few rows that it is about, however many there are and whatever the planner believes.

Counted in rows read, not in time: a plan that was made on small tables read all of two large ones, for minutes.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from lifecycle_machine import connect
from payers import Payer, open_account
from workbench import LEASE, submission

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.lifecycle import Beat, Outcome

#: Jobs of one item that have ended, and items that are ready; enough that reading them all shows.
ENDED, READY = 20_000, 10_000
#: Rows and index entries of job and item that one call may read; a claim of 8 reads about 60.
FEW = 500

_READ = """
SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE relname IN ('job', 'item'))
     + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ('job', 'item')) AS rows
"""

_ENDED = """
WITH ended AS (
    INSERT INTO job (id, account_id, api_key_id, kind, route, request, request_id, items_total, items_ok, credits_held,
                     credits_captured, request_hash, keep_for, deadline, state, finished_at, expires_at, purged_at)
    SELECT gen_random_uuid(), %(account)s, %(key)s, 'sketch', '/sketch', '{}', 'r', 1, 1, 0, 0, '', '1 h',
           now() + interval '1 h', 'succeeded', now(), now() + interval '1 h', CASE WHEN n %% 2 = 0 THEN now() END
    FROM generate_series(1, %(ended)s) n RETURNING id)
INSERT INTO item (job_id, index, kind, round, price, input, state)
SELECT id, 0, 'sketch', 0, 0, '{}', 'done' FROM ended
"""


class Session:
    """One connection whose plans are kept, and what its calls read."""

    def __init__(self, connection: Any, payer: Payer) -> None:
        self._connection = connection
        self._payer = payer

    def run(self, statement: Statement[Any]) -> Any:
        return statement.read(self._connection.execute(statement.sql, statement.parameters, prepare=True).fetchall())

    def rows_read(self, call: Callable[[], Any]) -> int:
        before = self._rows()
        call()
        return self._rows() - before

    def _rows(self) -> int:
        self._connection.execute("SELECT pg_stat_force_next_flush()")
        rows: int = self._connection.execute(_READ).fetchone()["rows"]
        return rows

    def calls(self) -> dict[str, Callable[[], Any]]:
        """Return every call that is made for each item, or every second."""
        claimed: list[Any] = []
        another = submission(self._payer, [0] * 40)

        def claim(**options: Any) -> None:
            claimed[:] = self.run(lifecycle.claim({"sketch": 8, "song": 2}, lease_for=LEASE, **options))

        def report(outcome: Any = "done") -> None:
            self.run(lifecycle.report(claimed[0].lease_id, [Outcome(item.item_id, outcome) for item in claimed]))

        def beat() -> None:
            self.run(lifecycle.heartbeat([Beat(i.lease_id, i.item_id) for i in claimed], lease_for=LEASE))

        return {
            "submit": lambda: self.run(lifecycle.submit(submission(self._payer, idempotency_key="k"))),
            "submit another": lambda: self.run(lifecycle.submit(another)),
            "claim": claim,
            "heartbeat": beat,
            "raise_hold": lambda: self.run(lifecycle.raise_hold(claimed[0].lease_id, claimed[0].item_id, 2)),
            "report": report,
            "claim the oldest": lambda: claim(oldest=True),
            "release": lambda: report("release"),
            "claim nothing": lambda: self.run(lifecycle.claim({"nothing": 8}, lease_for=LEASE)),
            "claim beside others": lambda: claim(alone=False),
            "cancel": lambda: self.run(lifecycle.cancel(another.job_id, None)),
            "overdue_machines": lambda: self.run(lifecycle.overdue_machines()),
            "reap": lambda: self.run(lifecycle.reap()),
            "expire": lambda: self.run(lifecycle.expire()),
            "wake_waiting": lambda: self.run(lifecycle.wake_waiting()),
            "purge": lambda: self.run(lifecycle.purge()),
            "forget": lambda: self.run(lifecycle.forget(timedelta(days=90))),
        }


@pytest.fixture
def url(make_database: Callable[..., str]) -> str:
    """A database in which nobody gathers statistics but the test."""
    url = make_database()
    with closing(connect(url)) as connection:
        for table in ("job", "item"):
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    return url


def make_plans(session: Session) -> None:
    """Call everything so often that PostgreSQL keeps its plans: after five times it may."""
    for _ in range(7):
        for call in session.calls().values():
            call()


@pytest.mark.parametrize("when", ["planned and gathered before", "planned before", "planned and gathered now"])
def test_no_call_reads_more_than_it_is_about(url, when):
    with Database(url) as database, closing(connect(url)) as early, closing(connect(url)) as late:
        payer, crowd = open_account(database), open_account(database, credits=READY)
        session = Session(early, payer)
        make_plans(session)
        early.execute("VACUUM ANALYZE")  # throws the plans away
        make_plans(session)
        early.execute(_ENDED, {"account": payer.account_id, "key": payer.api_key_id, "ended": ENDED})
        database.run(lifecycle.submit(submission(crowd, [1] * READY, slice_size=10)))
        # What its session has read by now is counted now, and not amid a call that is measured.
        database.run(Statement("SELECT pg_stat_force_next_flush()"))
        if when != "planned and gathered before":
            early.execute("ANALYZE")
        if when == "planned and gathered now":
            session = Session(late, payer)

        early.execute("SELECT pg_stat_force_next_flush()")
        read = {name: session.rows_read(call) for name, call in session.calls().items()}

    assert {name: rows for name, rows in read.items() if rows > FEW} == {}


def test_what_is_called_for_each_item_reads_no_dead_rows_of_others(url):
    """They pile up in the indexes of what is open while somebody's transaction keeps VACUUM from removing them."""
    with Database(url) as database, closing(connect(url)) as pinning, closing(connect(url)) as connection:
        payer = open_account(database)
        session = Session(connection, payer)
        make_plans(session)
        pinning.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        pinning.execute("SELECT 1")
        connection.execute(_ENDED, {"account": payer.account_id, "key": payer.api_key_id, "ended": ENDED})
        connection.execute("SET pressroom.job_end_is_told = 'true'")
        connection.execute("UPDATE job SET state = 'queued', finished_at = NULL WHERE request_id = 'r'")
        connection.execute("UPDATE job SET state = 'succeeded', finished_at = now() WHERE request_id = 'r'")
        connection.execute("VACUUM ANALYZE job, item")

        session.rows_read(lambda: None)
        read = {name: session.rows_read(call) for name, call in session.calls().items()}

    assert {name: rows for name, rows in read.items() if rows > FEW} == {}
