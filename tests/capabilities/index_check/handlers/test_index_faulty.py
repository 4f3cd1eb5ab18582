"""URLs that can't be checked fail alone, at no cost, and wait for no provider."""

from index_pools import HERE, Start, raw_result_of
from search_engine import SearchEngine


def test_a_url_that_can_not_be_checked_fails_alone_while_no_provider_may_be_asked(
    start: Start, engine: SearchEngine
) -> None:
    pool = start(interval=3_600)
    first = pool.check(HERE)
    job_id = pool.submit("https://e.example/other", "no url", "ftp://x", skip_invalid=True)

    pool.drain(lambda: pool.job(job_id).items_failed == 2)

    other, *faulty = pool.items(job_id)
    assert (first[0].state, other.state, [item.state for item in faulty]) == ("done", "ready", ["failed", "failed"])
    found = raw_result_of(faulty[0]) or {}
    assert (found["reason"], found["code"]) == ("error", "url_invalid")
    assert found["message"] == (
        "The URL was not checked: it has a space, a control character, a backslash or an invisible character; write it "
        "as %XX. Nothing was charged for it. Correct it."
    )
    assert pool.job(job_id).credits_held == 1
