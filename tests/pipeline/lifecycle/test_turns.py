"""Turns: a report and the claim after it, in one statement."""

from workbench import LEASE

from pipeline import lifecycle
from pipeline.lifecycle import Outcome, Taken


def turn(bench, item, outcome="done", **limits):
    report = lifecycle.report(item.lease_id, [Outcome(item.item_id, outcome, 1)])
    return bench.database.run(
        lifecycle.report_then_claim(report, lifecycle.claim(limits or {"sketch": 1}, lease_for=LEASE))
    )


def test_what_was_reported_and_what_was_claimed_are_told(bench):
    first, second = bench.job_of(1), bench.job_of(1)
    item = bench.claim_one()

    taken, claimed = turn(bench, item)

    assert taken == [Taken(item.item_id, first, "succeeded")]
    assert [one.job_id for one in claimed] == [second]
    assert bench.item(claimed[0].item_id)["lease_id"] == claimed[0].lease_id


def test_the_claim_comes_after_the_report_and_gets_what_that_gave_back(bench):
    bench.job_of(1)
    item = bench.claim_one()

    taken, claimed = turn(bench, item, "release")

    assert [one.item_id for one in taken] == [one.item_id for one in claimed] == [item.item_id]
    assert claimed[0].lease_id != item.lease_id


def test_a_report_changes_nothing_where_the_server_forgot_the_claim(bench):
    job_id = bench.job_of(1)
    with bench.transaction() as connection:  # rolled back, as a crash of the server does it
        claim = lifecycle.claim_alone(lifecycle.claim({"sketch": 1}, lease_for=LEASE))
        (forgotten,) = claim.read(connection.execute(claim.sql, claim.parameters).fetchall())

    assert not bench.beat(forgotten)
    assert bench.report(forgotten, credits=1) == []

    assert bench.report(bench.claim_one(), credits=1)[0].job_state == "succeeded"
    assert bench.entries(job_id) == [("hold", -1, 1), ("capture", 0, -1)]
