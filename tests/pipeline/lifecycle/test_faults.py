"""Planted faults: the state machine must notice each, or it is no test of the life cycle."""

import re
from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from lifecycle_machine import LifecycleMachine, connect

from pipeline import lifecycle


@dataclass(frozen=True)
class Fault:
    """A mistake in lifecycle.sql: in each named function, one text instead of another."""

    name: str
    changes: tuple[tuple[str, str, str], ...]
    also: str = "SELECT"  # what would hide it, taken away


FAULTS = (
    Fault("a report needs no token", (
        ("report", " AND i.lease_id = ANY (v_leases) AND i.state = 'leased'", " AND i.state = 'leased'"),
        ("report", " AND i.lease_id = ANY (v_leases));", ");"),
        ("report", " AND i.lease_id = o.lease AND", " AND"),
    )),
    Fault("a report needs a token, whichever", (
        ("report", " AND i.lease_id = o.lease AND", " AND i.lease_id = ANY (v_leases) AND"),
    )),
    Fault("a report needs the token, not the state", (
        ("report", " AND i.lease_id = ANY (v_leases) AND i.state = 'leased'", " AND i.lease_id = ANY (v_leases)"),
        ("report", " AND i.lease_id = o.lease AND i.state = 'leased'", " AND i.lease_id = o.lease"),
    )),
    Fault("what was sent is counted, not what was changed", (
        ("report", "FROM changed c GROUP BY c.job_id) c", """
            FROM (SELECT i.job_id, o.outcome AS state, o.engine
                  FROM jsonb_to_recordset(p_outcomes) AS o (item bigint, outcome text, engine text)
                  JOIN item i ON i.id = o.item) c GROUP BY c.job_id) c"""),
    )),
    Fault("an ended job may end again", (
        ("cancel", "IF v_state IN ('queued', 'running') THEN", "IF v_state IS NOT NULL THEN"),
        ("settle", " AND j.finished_at IS NULL", ""),
    )),
    Fault("credits earned are not checked against the price", (
        ("report", "least(greatest(o.credits, 0), i.price)", "o.credits"),
    ), also="ALTER TABLE item DROP CONSTRAINT item_captured_check; ALTER TABLE job DROP CONSTRAINT job_credits_check"),
    Fault("progress is not checked against the price", (
        ("heartbeat", "least(coalesce(b.credits, 0), i.price)", "b.credits"),
    ), also="ALTER TABLE item DROP CONSTRAINT item_captured_check; ALTER TABLE job DROP CONSTRAINT job_credits_check"),
    Fault("a heartbeat needs no token", (
        ("heartbeat", " AND i.lease_id = b.lease AND i.state = 'leased'", " AND i.state = 'leased'"),
    )),
    Fault("a raise is relative", (
        ("raise_hold", "SELECT p_credits - i.price INTO", "SELECT p_credits INTO"),
    )),
    Fault("a raise does not look at the balance", (
        ("raise_hold", "IF v_more > available THEN", "IF false THEN"),
    ), also="ALTER TABLE account DROP CONSTRAINT account_available_check"),
    Fault("everything held is given back", (
        ("settle", "('release', s.credits_held - s.credits_captured,", "('release', s.credits_held,"),
    )),
    Fault("cancelling forgets the items that wait", (
        ("stop", "state IN ('waiting', 'ready', 'leased')", "state IN ('ready', 'leased')"),
    )),
    Fault("a job does not count the items that crashed for good", (
        ("reap", "j.items_failed + v_failed", "j.items_failed"),
    )),
    Fault("a crashed item goes out with its neighbours", (
        ("lock_ready", "IF NOT p_alone OR p_together OR cardinality(v_ids) <= 1 THEN", "IF true THEN"),
    )),
    Fault("a retry forgets what was earned", (
        ("report", "ELSE i.captured END", "ELSE 0 END"),
    )),
    Fault("an Idempotency-Key counts on every route", (
        ("submit", " AND j.route = p_route", ""),
    )),
    Fault("a job sent again is made again", (
        ("submit", "IF EXISTS (SELECT FROM job j WHERE j.id = p_job", "IF EXISTS (SELECT FROM job j WHERE false"),
    )),
    Fault("items of all kinds count towards a round", (
        ("submit", " FILTER (WHERE j.kind = p_kind)", ""),
    )),
    Fault("one purge is taken for the whole job", (
        ("purge", "IF v_gone < p_limit THEN", "IF true THEN"),
    )),
)  # fmt: skip


def planted(fault: Fault, schema: str) -> str:
    """Return the statements that install the life cycle with a fault, as `schema`."""
    source = lifecycle.install_sql()
    for function, right, wrong in fault.changes:
        start = source.index(f"CREATE FUNCTION {lifecycle.SCHEMA}.{function}(")
        end = start + re.search(r"\$\$ *;", source[start:]).end()
        assert right in source[start:end], f"{function} has changed: the fault “{fault.name}” can't be planted."
        source = source[:start] + source[start:end].replace(right, wrong) + source[end:]
    return source.replace(lifecycle.SCHEMA, schema)


@pytest.mark.timeout(900)  # many calls, which take a busy machine as long as it takes
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_state_machine_notices_that(fault, make_database):
    with closing(connect(make_database())) as connection:
        connection.execute(planted(fault, "faulty"))
        connection.execute(fault.also)
        with pytest.raises((AssertionError, KeyError, ExceptionGroup, connection.Error)):
            run_state_machine_as_test(
                lambda: LifecycleMachine(connection, schema="faulty"),
                settings=settings(
                    max_examples=400,
                    stateful_step_count=50,
                    phases=[Phase.generate],
                    report_multiple_bugs=False,
                    derandomize=True,
                    database=None,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
