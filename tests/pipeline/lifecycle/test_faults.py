"""Planted faults: the state machine must notice each, or it is no test of the life cycle. `make faults` plants all."""

from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from lifecycle_machine import LifecycleMachine, connect
from planting import Change, planted


@dataclass(frozen=True)
class Fault:
    """A mistake in lifecycle.sql: in each named function, one text instead of another."""

    name: str
    changes: tuple[Change, ...]
    also: str = "SELECT"  # what would hide it, taken away
    often: tuple[str, ...] = ()  # what brings it to light


LEASES = "(SELECT (sent ->> 'lease')::uuid FROM jsonb_array_elements(p_outcomes) sent)"
FAULTS = (
    Fault("a report needs no token", (
        ("report", "ON i.id = o.item AND i.lease_id = o.lease", "ON i.id = o.item"),
        ("report", " AND i.lease_id = v_outcome.lease AND", " AND"),
    )),
    Fault("a report needs a token, whichever", (
        ("report", "i.lease_id = o.lease", f"i.lease_id IN {LEASES}"),
        ("report", "i.lease_id = v_outcome.lease", f"i.lease_id IN {LEASES}"),
    )),
    Fault("a report needs the token, not the state", (
        ("report", " AND i.lease_id = v_outcome.lease AND i.state = 'leased'", " AND i.lease_id = v_outcome.lease"),
    )),
    Fault("what was sent is counted, not what was changed", (
        ("report", "RETURNING i.state INTO v_state;", "; v_state := v_outcome.outcome;"),
        ("report", "IF FOUND THEN", "IF true THEN"),
    )),
    Fault("an ended job may end again", (
        ("cancel", "IF v_state IN ('queued', 'running') THEN", "IF v_state IS NOT NULL THEN"),
        ("settle", " AND j.state IN ('queued', 'running')", ""),
    )),
    Fault("credits earned are not checked against the price", (
        ("report", "least(greatest(v_outcome.credits, 0), i.price)", "v_outcome.credits"),
    ), also="ALTER TABLE item DROP CONSTRAINT item_rules_check; ALTER TABLE job DROP CONSTRAINT job_rules_check"),
    Fault("progress is not checked against the price", (
        ("heartbeat", "least(coalesce(b.credits, 0), i.price)", "b.credits"),
    ), also="ALTER TABLE item DROP CONSTRAINT item_rules_check; ALTER TABLE job DROP CONSTRAINT job_rules_check"),
    Fault("a heartbeat needs no token", (
        ("heartbeat", " AND i.lease_id = b.lease AND i.state = 'leased'", " AND i.state = 'leased'"),
    )),
    Fault("a raise is relative", (
        ("raise_hold", "SELECT p_credits - i.price INTO", "SELECT p_credits INTO"),
    )),
    Fault("a raise does not look at the balance", (
        ("raise_hold", "IF v_more > available THEN", "IF false THEN"),
    ), also="ALTER TABLE account DROP CONSTRAINT account_rules_check"),
    Fault("everything held is given back", (
        ("settle", "j.credits_held - v_captured AS rest", "j.credits_held AS rest"),
    )),
    Fault("cancelling forgets the items that wait", (
        ("stop", "state IN ('waiting', 'ready', 'leased')", "state IN ('ready', 'leased')"),
    )),
    Fault("a job does not count the items that crashed for good", (
        ("reap", "advance(v_job, 0, v_failed, NULL)", "advance(v_job, 0, 0, NULL)"),
    ), often=("worker_dies", "hour_passes_and_waiting_items_wake")),
    Fault("a crashed item goes out with its neighbours", (
        ("lock_ready", "WHEN v_item.crashes > 0 AND", "WHEN false AND"),
    ), often=("worker_dies", "hour_passes_and_waiting_items_wake")),
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
        ("submit", "coalesce((v_open_by_kind ->> p_kind)::bigint, 0)", "open_items"),
    )),
    Fault("a job that has ended counts for ever", (
        ("take_off", "::bigint - v_ended.items", "::bigint"),
    )),
    Fault("jobs that have ended push back what is submitted", (
        ("submit", "IF v_open_of_kind >= p_slice AND", "IF false AND"),
    )),
    Fault("a job that has ended is taken off twice", (
        ("count_open", "WITH gone AS (DELETE FROM ended_job e WHERE e.account_id = p_account)", ""),
    )),
    Fault("a refusal relies on what was counted before", (
        ("submit", "SELECT c.open_items, c.open_by_kind, c.unfinished INTO",
         "SELECT submit.open_items, c.open_by_kind, submit.open_items INTO"),
    )),
    Fault("a pause of an account is not looked at", (
        ("lock_ready", "i.job_id <> ALL (p_jobs)", "true"),
    )),
    Fault("a pause of a kind is not looked at", (
        ("unpaused", "l.owner <> ALL (paused_kinds)", "true"),
        ("lock_ready", "i.kind <> ALL (p_kinds)", "true"),
    )),
    Fault("what is overtaken keeps its turn", (
        ("overtake", "UPDATE item i SET round = v_round + 1 WHERE i.id = v_old.id;", ""),
    )),
    Fault("the same priority is overtaken", (
        ("overtake", "ARRAY['low', 'normal']", "ARRAY['low', 'normal', 'high']"),
    )),
    Fault("one purge is taken for the whole job", (
        ("purge", "IF v_gone < p_limit THEN", "IF true THEN"),
    )),
)  # fmt: skip


@pytest.mark.timeout(900)  # many calls, which take a busy machine as long as it takes
@pytest.mark.parametrize(
    "fault",
    [FAULTS[0], *(pytest.param(fault, marks=pytest.mark.storm) for fault in FAULTS[1:])],
    ids=lambda fault: fault.name,
)
def test_the_state_machine_notices_that(fault, make_database):
    with closing(connect(make_database())) as connection:
        connection.execute(planted(fault.name, fault.changes, "faulty"))
        connection.execute(fault.also)
        with pytest.raises((AssertionError, KeyError, ExceptionGroup, connection.Error)):
            run_state_machine_as_test(
                lambda: LifecycleMachine(connection, "faulty", fault.often),
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
