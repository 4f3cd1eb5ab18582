"""The Try page of index checks, whose list fills in while URLs are checked."""

from collections.abc import Sequence

from api.try_pages import Call, Trial, TryPage
from capabilities.index_check.requests.request import index_of
from capabilities.index_check.results.jobs import title_of
from pipeline.offers.offers import Offers

PRINTED = ("for page in answer:", "    print(page.url, page.is_indexed)")
PRICE = "1 credit per new answer"


def _engines(offers: Offers) -> Sequence[tuple[str, str]]:
    return [(offer.engine, offer.engine) for offer in offers.of("search") if offer.ready]


def _indexes(offers: Offers) -> Sequence[tuple[str, str]]:
    found = dict.fromkeys(index_of(offer) for offer in offers.of("search") if offer.ready)
    return [(index, title_of(index)) for index in found]


TRY = TryPage(
    slug="index-check",
    title="Index check",
    lead="Find out which of your pages search engines list. Results appear as they arrive.",
    trials=(Trial("index_check", "Check", PRICE, Call("check_index", "urls", then=PRINTED)),),
    besides=("index_submit",),
    engines=("search",),
    main=("urls", "diagnose"),
    filled=("urls",),
    starts={"diagnose": True},
    hidden=("source", "type"),
    labels={
        "urls": "Addresses",
        "sitemap_url": "or a sitemap",
        "diagnose": "Explain why pages are missing",
        "fresh": "Ignore earlier answers",
        "skip_invalid": "Skip invalid addresses",
        "name": "Name of the job",
        "engine": "Search provider",
        "index": "Search engine",
    },
    abouts={
        "urls": "example.org/a is enough; each counts once.",
        "diagnose": "Free of charge.",
        "sitemap_url": "Its pages are checked instead of the addresses above.",
        "skip_invalid": "Otherwise a wrong address stops the check.",
        "name": "To find the check again.",
        "engine": "",
        "index": "The one whose answer you need.",
    },
    controls={"sitemap_url": "url"},
    choices={"engine": _engines, "index": _indexes},
    template="index_check.html",
    script="try_index_check.js",
    shows_by="job",
    submit="Check",
    icon="search-check",
    order=5,
)
