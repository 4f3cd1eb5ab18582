"""Whose index a request may name, which lane its URLs have, and who is asked about them."""

import pytest

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.requests.request import IndexCheckRequest
from capabilities.index_check.results.jobs import providers_for
from pipeline.errors import InvalidRequest
from pipeline.offers.offers import Offer, Offers

URL = "https://e.example/"
SERPER = Offer("search", "serper", ready=True, content={"index": "google"})
BING = Offer("search", "bing", ready=True, content={"index": "bing"})
YANDEX = Offer("search", "yandex", ready=True)  # of another package, and of a release that names no index
BRAVE = Offer("search", "brave_api", ready=False, needs="a key", content={"index": "brave"})
TOLD = Offers((SERPER, BING, YANDEX, BRAVE))


def request(**asked: object) -> IndexCheckRequest:
    return IndexCheckRequest(type="check", urls=[URL], **asked)


@pytest.mark.parametrize(
    "asked", [{"index": "google"}, {"index": "yandex"}, {"index": "bing", "engine": "bing"}, {"engine": "yandex"}]
)
def test_an_index_that_somebody_answers_from_may_be_named(asked: dict[str, str]) -> None:
    IndexCheck().check(request(**asked), TOLD)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"index": "brave"}, "set up here are google (by serper), bing (by bing), yandex (by yandex)"),
        ({"index": "altavista"}, "'altavista': set up here are google (by serper)"),
        ({"index": "google", "engine": "bing"}, "the engine bing answers from bing (by bing)"),
        ({"index": ""}, "set up here are"),
    ],
)
def test_another_index_is_refused_with_those_that_there_are(asked: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        IndexCheck().check(request(**asked), TOLD)

    assert (refused.value.code, said in refused.value.message) == ("index_unknown", True)


def test_before_any_pool_has_spoken_up_all_indexes_that_we_know_may_be_named() -> None:
    IndexCheck().check(request(index="google"), Offers())

    with pytest.raises(InvalidRequest, match="set up here are google, brave, mixed, duckduckgo, bing"):
        IndexCheck().check(request(index="altavista"), Offers())


@pytest.mark.parametrize(
    ("asked", "lane"),
    [
        ({}, "index_check"),
        ({"fresh": True}, "index_check"),
        ({"index": "google"}, "index_check_index_google"),
        ({"engine": "bing"}, "index_check_bing"),
        ({"engine": "serper", "index": "google"}, "index_check_serper"),
        ({"index": "yandex"}, "index_check"),
    ],
)
def test_urls_that_name_an_index_or_a_provider_have_a_lane_of_their_own(asked: dict[str, object], lane: str) -> None:
    (item,) = IndexCheck().items(request(**asked))

    assert item.lane == lane
    assert item.lane in IndexCheck.lanes
    assert item.input.model_dump(exclude_unset=True) == {"url": URL, **asked}


def test_who_may_be_asked_about_a_request_is_known_before_it_is_carried_out() -> None:
    order = ["serper", "yandex", "bing", "serpapi"]

    assert providers_for({}, order) == order
    assert providers_for({"index": "google"}, order) == ["serper", "serpapi"]
    assert providers_for({"index": "yandex"}, order) == ["yandex"]
    assert providers_for({"index": "google", "engine": "serpapi"}, order) == ["serpapi"]
