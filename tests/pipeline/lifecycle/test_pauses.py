"""Pauses: what an operator has stopped is passed over by every claim, and nothing of it is changed."""

import pytest
from payers import open_account
from workbench import LEASE

from pipeline import lifecycle
from pipeline.errors import InvalidRequest
from pipeline.operations.pauses import check_pause, pause, read_pauses, resume
from pipeline.registry import own_kinds


def claimed(bench, limits=None, **options):
    statement = lifecycle.claim(limits or {"sketch": 9}, lease_for=LEASE, **options)
    return [item.job_id for item in bench.database.run(statement)]


@pytest.mark.parametrize("more_jobs", [0, 20])  # of few jobs each is named, of many their account is looked up
@pytest.mark.parametrize("oldest", [False, True])
@pytest.mark.parametrize("limits", [{"sketch": 9}, {"sketch": 9, "song": 9}])
def test_an_accounts_pause_passes_over_its_items_and_only_those(bench, oldest, limits, more_jobs):
    mine, other = bench.job_of(1, 1), open_account(bench.database)
    for _ in range(more_jobs):
        bench.job_of(kind="song")
    theirs = bench.job_of(payer=other)
    before = bench.items(mine)
    bench.database.run(pause("account", str(bench.payer.account_id)))

    assert claimed(bench, limits, oldest=oldest) == [theirs]
    assert claimed(bench, limits, oldest=oldest) == []
    assert bench.items(mine) == before

    bench.database.run(resume("account", str(bench.payer.account_id)))

    assert claimed(bench, {"sketch": 9}, oldest=oldest) == [mine, mine]


@pytest.mark.parametrize(("scope", "name"), [("queue", "drawing"), ("kind", "sketch")])
def test_a_pause_of_a_queue_or_a_kind_stops_its_claims(bench, scope, name):
    job_id, song = bench.job_of(), bench.job_of(kind="song")
    limits, owners = {"sketch": 1, "song": 1}, {"sketch": "sketch", "song": "song"}
    assert bench.database.run(pause(scope, name, "the printer burns"))
    assert not bench.database.run(pause(scope, name))  # once is enough

    found = claimed(bench, limits, queue="drawing", owners=owners) + claimed(bench, limits, queue="drawing")

    assert found == ([] if scope == "queue" else [song])
    (told,) = bench.database.run(read_pauses())
    assert (told.scope, told.name, told.reason) == (scope, name, "the printer burns")
    assert bench.database.run(resume(scope, name))
    assert job_id in claimed(bench, limits, queue="drawing", owners=owners)


def test_a_kind_that_shares_its_lane_is_passed_over_item_by_item(bench):
    bench.job_of(lane="shared")
    song = bench.job_of(kind="song", lane="shared")
    bench.database.run(pause("kind", "sketch"))

    assert claimed(bench, {"shared": 9}, owners={"shared": None}) == [song]


def test_only_what_there_is_can_be_paused():
    kinds = {kind.name: kind for kind in own_kinds()}

    check_pause(kinds, ["bing"], "provider", "bing")
    for scope, name in (("queue", "speech"), ("kind", "nonsense"), ("account", "me"), ("world", "all")):
        with pytest.raises(InvalidRequest, match=name if scope != "world" else scope):
            check_pause(kinds, [], scope, name)
