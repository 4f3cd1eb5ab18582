"""Sites: which of the sites that an account has connected a URL belongs to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from pipeline.urls import DEFAULT_PORTS, host_key

#: A property of Search Console that is a domain with all its subdomains, schemes and ports.
DOMAIN_PREFIX = "sc-domain:"


@dataclass(frozen=True, slots=True)
class OwnedSite:
    """A site as its service writes it, and the connection that has access to it."""

    service: str
    property: str
    connection_id: UUID


class SiteMap:
    """The connected sites of one account."""

    def __init__(self, sites: Iterable[OwnedSite]) -> None:
        self._domains: dict[str, list[OwnedSite]] = {}
        self._prefixes: list[tuple[str, OwnedSite]] = []
        for site in sites:
            if site.property.startswith(DOMAIN_PREFIX):
                domain = host_key(site.property.removeprefix(DOMAIN_PREFIX))
                self._domains.setdefault(domain or "", []).append(site)
            elif (prefix := _plain_form(site.property)) is not None:
                self._prefixes.append((prefix, site))
        self._prefixes.sort(key=lambda pair: len(pair[0]), reverse=True)

    def find(self, url: str, services: Sequence[str]) -> list[OwnedSite]:
        """Return the sites of some services that a URL belongs to: by service, the most specific first.

        The longest prefix is the most specific one, then the longest domain."""
        if not (self._domains or self._prefixes) or (plain := _plain_form(url)) is None:
            return []
        found = [site for prefix, site in self._prefixes if plain.startswith(prefix)]
        if self._domains:
            labels = (urlsplit(plain).hostname or "").split(".")
            for first in range(len(labels)):
                found += self._domains.get(".".join(labels[first:]), ())
        return [site for service in services for site in found if site.service == service]


def _plain_form(url: str) -> str | None:
    """Return a URL with its host in lower case ASCII and without a default port or a fragment; None for none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = host_key(parts.hostname or "")
    if parts.scheme not in DEFAULT_PORTS or not host:
        return None
    place = host if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    return f"{parts.scheme}://{place}{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
