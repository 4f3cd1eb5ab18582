"""Refusals: index checks that can't be made here, refused before anything is charged."""

from collections.abc import Sequence

from capabilities.index_check.requests.given import read_url
from capabilities.index_check.requests.request import (
    INDEXES,
    MAX_NAMED,
    OWNED_ENGINES,
    IndexCheckRequest,
    UrlsInvalid,
    UrlsMissing,
)
from capabilities.index_check.results.jobs import PROVIDERS
from pipeline.errors import InvalidRequest
from pipeline.offers.offers import Offer, Offers


def check_urls(request: IndexCheckRequest) -> None:
    """Refuse a request without URLs, and, unless they are skipped, one with URLs that can't be checked.

    Raises UrlsMissing; UrlsInvalid, which names the first of them."""
    if not request.urls:
        raise UrlsMissing
    if request.skip_invalid:
        return
    faults = [
        {"field": f"urls.{index}", "message": f"{url[:200]!a}: {fault}.", "code": "url_invalid"}
        for index, url in enumerate(request.urls)
        if (fault := read_url(url).fault) is not None
    ]
    if faults:
        raise UrlsInvalid(
            f"{len(faults):,} of {len(request.urls):,} URLs can't be checked, and nothing was charged. The first: "
            f"{faults[0]['message']} Correct them or leave them out; a job skips them with skip_invalid: true.",
            details=faults[:MAX_NAMED],
            invalid_urls=len(faults),
        )


def check_engine(request: IndexCheckRequest, offers: Offers) -> None:
    """Refuse a provider, and an index, that none is set up for. Raises InvalidRequest."""
    offered = offers.of("search")
    # Before any pool has spoken up, its word is waited for.
    known = [offer.engine for offer in offered if offer.ready] if offered else list(PROVIDERS)
    # Whether the URLs' sites are connected is looked up when the account is known.
    require_engine(request.engine, [*known, *OWNED_ENGINES])
    if request.index is not None:
        _check_index(request.index, request.engine, offers)


def require_engine(engine: str | None, known: Sequence[str]) -> None:
    """Refuse an engine that is not among those that are known; None is any of them. Raises InvalidRequest."""
    if engine is not None and engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; set up here are {', '.join(known) or 'none'}. "
            "Name one of them, or leave it out.",
            code="engine_unknown",
            field="engine",
        )


def index_of(offer: Offer) -> str:
    """Return whose index a provider answers from; one that doesn't say has its own."""
    return str(offer.content.get("index") or offer.engine)


def _check_index(index: str, engine: str | None, offers: Offers) -> None:
    offered = offers.of("search")
    ready: dict[str, list[str]] = {}
    if engine in OWNED_ENGINES:
        ready[OWNED_ENGINES[engine]] = [engine]
    for offer in offered:
        if offer.ready and engine in (None, offer.engine):
            ready.setdefault(index_of(offer), []).append(offer.engine)
    if index not in (ready if offered or ready else INDEXES):
        listed = ", ".join(f"{name} (by {', '.join(engines)})" for name, engines in ready.items())
        raise InvalidRequest(
            f"index can't be {index[:40]!a}: {f'the engine {engine} answers from' if engine else 'set up here are'} "
            f"{listed or ('none' if offered else ', '.join(INDEXES))}. Name one of them, or leave it out.",
            code="index_unknown",
            field="index",
        )
