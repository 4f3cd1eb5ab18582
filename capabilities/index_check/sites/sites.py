"""Sites: the connected sites of an account that a URL belongs to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from pipeline.downloads.urls import DEFAULT_PORTS, host_key

#: Begins a property of Search Console that is a domain with its subdomains, schemes and ports.
DOMAIN_PREFIX = "sc-domain:"
#: The origin of a URL, and its path with the query.
PARTS = re.compile(r"([^:/?#]+://[^/?#]*)([^#]*)")


@dataclass(frozen=True, slots=True)
class OwnedSite:
    """A site as its service writes it, and its connection."""

    service: str
    property: str
    connection_id: UUID


class SiteMap:
    """The connected sites of one account."""

    def __init__(self, sites: Iterable[OwnedSite]) -> None:
        self._domains: dict[str, list[OwnedSite]] = {}
        #: By origin, with the path that a URL must begin with.
        self._prefixes: dict[str, list[tuple[str, OwnedSite]]] = {}
        #: Sites of an origin, in order: ten thousand URLs have few origins.
        self._found: dict[tuple[str, tuple[str, ...]], list[tuple[str, OwnedSite]]] = {}
        for site in sites:
            if site.property.startswith(DOMAIN_PREFIX):
                if (domain := host_key(site.property.removeprefix(DOMAIN_PREFIX))) is not None:
                    self._domains.setdefault(domain, []).append(site)
            elif (parts := _parts(site.property)) and (origin := _plain_origin(parts[0])):
                self._prefixes.setdefault(origin, []).append((parts[1], site))

    def find(self, url: str, services: Sequence[str]) -> list[OwnedSite]:
        """Return the sites of services that a URL belongs to, by service: longest prefix first, then longest domain."""
        if not (self._domains or self._prefixes) or (parts := _parts(url)) is None:
            return []
        origin, path = parts
        key = (origin, tuple(services))
        if key not in self._found:
            self._found[key] = list(self._at(origin, services))
        return [site for prefix, site in self._found[key] if path.startswith(prefix)]

    def _at(self, origin: str, services: Sequence[str]) -> list[tuple[str, OwnedSite]]:
        """Return the sites of an origin, each with the path that a URL must begin with."""
        plain = _plain_origin(origin)
        if plain is None:
            return []
        found = sorted(self._prefixes.get(plain, ()), key=lambda pair: len(pair[0]), reverse=True)
        labels = (urlsplit(plain).hostname or "").split(".")
        for first in range(len(labels)):
            found += [("", site) for site in self._domains.get(".".join(labels[first:]), ())]
        return [pair for service in services for pair in found if pair[1].service == service]


def _parts(url: str) -> tuple[str, str] | None:
    """Return a URL's origin as written, and its path with the query; None if it is no URL."""
    found = PARTS.match(url)
    if found is None:
        return None
    return found[1], found[2] if found[2].startswith("/") else f"/{found[2]}"


def _plain_origin(origin: str) -> str | None:
    """Return an origin with a lower-case ASCII host and no default port; None if it is not HTTP."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return None
    host = host_key(parts.hostname or "")
    if parts.scheme not in DEFAULT_PORTS or not host:
        return None
    return f"{parts.scheme}://{host if port in (None, DEFAULT_PORTS[parts.scheme]) else f'{host}:{port}'}"
