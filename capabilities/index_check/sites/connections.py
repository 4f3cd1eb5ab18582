"""Connections: accounts' access to services for site owners, and the connected sites that a URL belongs to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from pipeline.database import Statement, nothing, rows_of
from pipeline.downloads.urls import DEFAULT_PORTS, host_key

SEARCH_CONSOLE = "search_console"
#: Begins a property of Search Console that is a domain with its subdomains, schemes and ports.
DOMAIN_PREFIX = "sc-domain:"
PARTS = re.compile(r"([^:/?#]+://[^/?#]*)([^#]*)")


@dataclass(frozen=True, slots=True)
class OwnedSite:
    """A site as its service writes it, and its connection."""

    service: str
    property: str
    connection_id: UUID


@dataclass(frozen=True, slots=True)
class Connection:
    """An account's access to a service. `name` is its owner; `fault` says why it can't be used."""

    id: UUID
    account_id: UUID
    service: str
    name: str
    fault: str | None
    created_at: datetime
    credentials: bytes  # encrypted
    properties: tuple[str, ...]

    @property
    def sites(self) -> list[OwnedSite]:
        return [OwnedSite(self.service, wanted, self.id) for wanted in self.properties]


class SiteMap:
    """The connected sites of one account."""

    def __init__(self, sites: Iterable[OwnedSite]) -> None:
        self._domains: dict[str, list[OwnedSite]] = {}
        #: By origin, with the path that a URL must begin with.
        self._prefixes: dict[str, list[tuple[str, OwnedSite]]] = {}
        #: Sites of an origin, in order: ten thousand URLs have few origins.
        self._found: dict[str, list[tuple[str, OwnedSite]]] = {}
        for site in sites:
            if site.property.startswith(DOMAIN_PREFIX):
                if (domain := host_key(site.property.removeprefix(DOMAIN_PREFIX))) is not None:
                    self._domains.setdefault(domain, []).append(site)
            elif (parts := _parts(site.property)) and (origin := _plain_origin(parts[0])):
                self._prefixes.setdefault(origin, []).append((parts[1], site))

    def find(self, url: str) -> list[OwnedSite]:
        """Return the sites that a URL belongs to: longest prefix first, then longest domain."""
        if not (self._domains or self._prefixes) or (parts := _parts(url)) is None:
            return []
        origin, path = parts
        if origin not in self._found:
            self._found[origin] = self._at(origin)
        return [site for prefix, site in self._found[origin] if path.startswith(prefix)]

    def _at(self, origin: str) -> list[tuple[str, OwnedSite]]:
        """Return the sites of an origin, each with the path that a URL must begin with."""
        plain = _plain_origin(origin)
        if plain is None:
            return []
        found = sorted(self._prefixes.get(plain, ()), key=lambda pair: len(pair[0]), reverse=True)
        labels = (urlsplit(plain).hostname or "").split(".")
        for first in range(len(labels)):
            found += [("", site) for site in self._domains.get(".".join(labels[first:]), ())]
        return found


def connect(account_id: UUID, name: str, credentials: bytes, properties: Sequence[str]) -> Statement[UUID | None]:
    """Store an account's access to sites, in place of one of the same name; None if there is no such account."""
    return Statement(
        "WITH c AS (INSERT INTO site_connection (id, account_id, service, name, credentials)"
        " SELECT %(id)s, a.id, %(service)s, %(name)s, %(credentials)s FROM account a WHERE a.id = %(account)s"
        " ON CONFLICT (account_id, service, name) DO UPDATE"
        " SET credentials = excluded.credentials, fault = NULL, created_at = now() RETURNING id),"
        " gone AS (DELETE FROM owned_site s USING c"
        " WHERE s.connection_id = c.id AND s.property <> ALL(%(properties)s)),"
        " made AS (INSERT INTO owned_site (connection_id, property, account_id) SELECT c.id, p, %(account)s"
        " FROM c, unnest(%(properties)s::text[]) p ON CONFLICT (connection_id, property) DO UPDATE"
        " SET refusals = 0, refused_until = NULL, reason = NULL),"
        # A used-up quota stays used up, whoever connects.
        " q AS (INSERT INTO site_quota (service, property)"
        " SELECT %(service)s, p FROM c, unnest(%(properties)s::text[]) p ON CONFLICT DO NOTHING)"
        " SELECT id FROM c",
        {
            "id": uuid4(),
            "account": account_id,
            "service": SEARCH_CONSOLE,
            "name": name,
            "credentials": credentials,
            "properties": list(properties),
        },
        lambda rows: rows[0]["id"] if rows else None,
    )


def list_connections(*, account_id: UUID | None = None) -> Statement[list[Connection]]:
    # Earlier releases stored keys of Bing Webmaster Tools as well.
    return Statement(
        "SELECT c.id, c.account_id, c.service, c.name, c.fault, c.created_at, c.credentials,"
        " ARRAY(SELECT s.property::text FROM owned_site s WHERE s.connection_id = c.id ORDER BY s.property)"
        " AS properties FROM site_connection c WHERE c.service = %(service)s"
        " AND (%(account)s::uuid IS NULL OR c.account_id = %(account)s) ORDER BY c.created_at, c.id",
        {"service": SEARCH_CONSOLE, "account": account_id},
        lambda rows: [Connection(**row | {"properties": tuple(row["properties"])}) for row in rows],
    )


def disconnect(connection_id: UUID) -> Statement[str | None]:
    """Delete a connection with its credentials and sites; returns its name, or None if there is none."""
    return Statement(
        "DELETE FROM site_connection WHERE id = %(id)s RETURNING name",
        {"id": connection_id},
        lambda rows: rows[0]["name"] if rows else None,
    )


def sites_of(account_id: UUID) -> Statement[list[OwnedSite]]:
    return Statement(
        "SELECT c.service, s.property, s.connection_id FROM owned_site s"
        " JOIN site_connection c ON c.id = s.connection_id AND c.account_id = s.account_id"
        " WHERE s.account_id = %(account)s AND c.service = %(service)s AND c.fault IS NULL",
        {"account": account_id, "service": SEARCH_CONSOLE},
        rows_of(OwnedSite),
    )


def note_fault(connection: Connection, fault: str) -> Statement[None]:
    """Note why a connection can't be used until it is renewed; do nothing if it was renewed meanwhile."""
    return Statement(
        "UPDATE site_connection SET fault = %(fault)s WHERE id = %(id)s AND credentials = %(credentials)s"
        " RETURNING 1 AS noted",
        {"id": connection.id, "fault": fault, "credentials": connection.credentials},
        nothing,
    )


def _parts(url: str) -> tuple[str, str] | None:
    """Return a URL's origin as written, and its path with the query; None if it is not a URL."""
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
