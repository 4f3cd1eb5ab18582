"""Ten thousand items of a made-up kind, from submission to the last trace."""

from payers import open_account

from pipeline import lifecycle

ITEMS = 10_000


def test_a_job_of_ten_thousand_items_runs_from_end_to_end(bench):
    bench.database.run(lifecycle.grant_credits(bench.payer.account_id, ITEMS))
    job_id = bench.job_of(*[1] * ITEMS, slice_size=10)
    assert bench.balance() == 1_000
    small = bench.job_of(payer=open_account(bench.database), slice_size=10)

    seen: set[int] = set()
    crashed: list[int] = []
    ended = None
    for turn in range(10_000):
        claimed = [item for item in bench.claim(100) if item.job_id == job_id or bench.report(item, credits=1)]
        if turn == 0:
            # The small job of another account came with the first claim.
            assert bench.job(small)["state"] == "succeeded"
        if not claimed and not bench.wake_early():
            break
        if turn == 50:
            crashed = [item.item_id for item in claimed]
            bench.kill_worker(claimed[0])
            assert bench.database.run(lifecycle.reap()).crashed == len(claimed)
            continue
        if claimed:
            seen.update(item.index for item in claimed)
            ended = bench.report_all(claimed)[-1].job_state

    assert seen == set(range(ITEMS))
    assert ended == "succeeded"
    assert len(crashed) == 100
    job = bench.job(job_id)
    assert (job["items_ok"], job["credits_captured"]) == (ITEMS, ITEMS)
    assert bench.balance() == 1_000

    bench.let_results_expire(job_id)
    while bench.database.run(lifecycle.purge()) is not None:
        pass
    assert bench.items(job_id) == []
