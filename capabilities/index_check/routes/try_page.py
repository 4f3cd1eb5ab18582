"""Try page of index checks: a list of URLs is checked, and fills in while it is."""

from collections.abc import Sequence

from api.try_pages import Call, Trial, TryPage
from capabilities.index_check.requests.refusals import index_of
from pipeline.offers.offers import Offers

#: What is done with the records that come back.
PRINTED = ("for page in answer:", "    print(page.url, page.is_indexed)")
PRICE = "1 credit a URL answered anew"


def _engines(offers: Offers) -> Sequence[tuple[str, str]]:
    return [(offer.engine, offer.engine) for offer in offers.of("search") if offer.ready]


def _indexes(offers: Offers) -> Sequence[tuple[str, str]]:
    found = dict.fromkeys(index_of(offer) for offer in offers.of("search") if offer.ready)
    return [(index, index) for index in found]


TRY = TryPage(
    slug="index-check",
    title="Index check",
    lead="See which of your pages search engines show.",
    trials=(Trial("index_check", "Check", PRICE, Call("check_index", "urls", then=PRINTED)),),
    besides=("index_submit",),
    engines=("search",),
    main=("urls", "diagnose"),
    filled=("urls",),
    hidden=("source", "type"),
    labels={
        "urls": "Addresses",
        "sitemap_url": "or a sitemap",
        "diagnose": "Explain missing pages",
        "fresh": "Ignore earlier answers",
        "skip_invalid": "Skip invalid addresses",
        "name": "Job name",
        "engine": "Search provider",
    },
    controls={"sitemap_url": "url"},
    choices={"engine": _engines, "index": _indexes},
    template="index_check.html",
    script="try_index_check.js",
    submit="Check",
    order=5,
)
