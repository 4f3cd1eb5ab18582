"""Bing's SubmitUrlBatch, spoken over loopback in the form of its documents."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from told_engines import ToldEngines

from capabilities.index_check.engines.submission import SubmittedSite
from capabilities.index_check.engines.submission.bing_submit import BingSubmit
from pipeline.settings import Settings


@pytest.fixture
def bing(engines: ToldEngines) -> Iterator[BingSubmit]:
    engine = BingSubmit.from_settings(Settings(**engines.settings("bing_submit")))
    engine.setup()
    yield engine
    engine.close()


def codes(engines: ToldEngines, bing: BingSubmit, urls: list[str]) -> list[str]:
    return [verdict.code for verdict in bing.submit(SubmittedSite(engines.here, is_secure=False), urls)]


def test_a_call_has_500_urls_at_most(engines: ToldEngines, bing: BingSubmit) -> None:
    urls = engines.urls(1_201)

    assert set(codes(engines, bing, urls)) == {"accepted"}

    assert [len(told) for told in engines.bing_told] == [500, 500, 201]
    assert [url for told in engines.bing_told for url in told] == urls


def test_what_the_quota_has_no_room_for_is_told_so_and_not_sent(engines: ToldEngines, bing: BingSubmit) -> None:
    engines.quota[f"http://{engines.here}"] = 520

    found = codes(engines, bing, engines.urls(1_000))

    assert found == ["accepted"] * 520 + ["quota"] * 480
    assert [len(told) for told in engines.bing_told] == [500, 20]


def test_a_quota_that_somebody_else_has_used_meanwhile_is_a_quota(engines: ToldEngines, bing: BingSubmit) -> None:
    engines.quota[f"http://{engines.here}"] = 3
    engines.taken_meanwhile = 7

    assert codes(engines, bing, engines.urls(10)) == ["quota"] * 10
    assert engines.bing_told == []


@pytest.mark.parametrize(
    ("number", "code", "is_passing"),
    [(1, "unavailable", True), (3, "key_invalid", False), (4, "throttled", True), (5, "throttled", True),
     (6, "key_invalid", False), (8, "request_refused", False), (14, "site_not_verified", False),
     (77, "http_400", False)],
)  # fmt: skip
def test_each_error_means_what_the_documents_say(
    engines: ToldEngines, bing: BingSubmit, number: int, code: str, is_passing: bool
) -> None:
    engines.bing_error = number

    (verdict,) = bing.submit(SubmittedSite(engines.here, is_secure=False), engines.urls(1))

    assert (verdict.code, verdict.wait) == (code, timedelta() if is_passing else None)
    assert verdict.cause
    assert "canary" not in verdict.cause


def test_a_call_with_a_url_that_is_refused_costs_the_next_call_nothing(engines: ToldEngines, bing: BingSubmit) -> None:
    urls = [*engines.urls(499), f"http://{engines.here}/broken", *engines.urls(2)]

    assert codes(engines, bing, urls) == ["urls_refused"] * 500 + ["accepted"] * 2
