"""Owned URLs: those of sites that an account has connected, which go to the services for site owners first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from capabilities.index_check.requests.request import MAX_NAMED, OWNED_ENGINES, IndexCheckRequest
from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.sites.connections import BING_WEBMASTER, SEARCH_CONSOLE
from capabilities.index_check.sites.sites import OwnedSite, SiteMap
from pipeline.errors import InvalidRequest

#: A row of an item: its input, price and lane.
ItemRow = tuple[Mapping[str, Any], int, str | None]
#: The services that are asked, in order, by the index that a request names; others are asked about none.
SERVICES: dict[str | None, Sequence[str]] = {
    None: (SEARCH_CONSOLE, BING_WEBMASTER),
    "google": (SEARCH_CONSOLE,),
    "bing": (BING_WEBMASTER,),
}


class SiteNotConnected(InvalidRequest):
    """The request names a service for site owners, and some URLs are of no site that the account has connected."""

    code = "site_not_connected"


def services_for(engine: str | None, index: str | None) -> Sequence[str]:
    """Return the services for site owners that a URL's request leaves open, in order."""
    if engine is not None:
        return (engine,) if engine in OWNED_ENGINES else ()
    return SERVICES.get(index, ())


def with_lanes(rows: Sequence[ItemRow], request: IndexCheckRequest, sites: Iterable[OwnedSite]) -> list[ItemRow]:
    """Return rows with the lane of owned URLs for those of connected sites. Raises SiteNotConnected."""
    services, owned = services_for(request.engine, request.index), SiteMap(sites)
    is_faulty = [row[0].get("fault") is not None for row in rows]
    is_owned = [
        not faulty and bool(owned.find(row[0]["url"], services)) for row, faulty in zip(rows, is_faulty, strict=True)
    ]
    known = [found or faulty for found, faulty in zip(is_owned, is_faulty, strict=True)]
    if request.engine in OWNED_ENGINES and not all(known):
        missing = [row[0]["url"] for row, found in zip(rows, known, strict=True) if not found]
        raise SiteNotConnected(
            f"{len(missing):,} of {len(rows):,} URLs are of no site that this account has connected to"
            f" {request.engine}, and nothing was charged. The first: {missing[0][:200]!a}. Connect their sites, or"
            " leave `engine` out.",
            details=[
                {
                    "field": "urls",
                    "message": f"{url[:200]!a}: its site is not connected.",
                    "code": SiteNotConnected.code,
                }
                for url in missing[:MAX_NAMED]
            ],
            field="engine",
        )
    return [(row[0], row[1], OWNED_LANE) if found else row for row, found in zip(rows, is_owned, strict=True)]
