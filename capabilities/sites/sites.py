"""Sites: where accounts publish; added, listed and removed, with their passwords encrypted."""

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from capabilities.sites.connectors.connector import Connector, SiteFacts
from capabilities.sites.runs import go_on
from pipeline.accounts.audit import Action, Actor, noted
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import SQL, Statement, columns, row_of, rows_of
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings

MAX_NAME = 60
#: Largest answer of a site that nobody has added yet: the API reads it, and JSON takes thirty times its bytes.
FIRST_BYTES = 10_000_000
#: The login that each connector needs.
LOGINS: Mapping[str, Sequence[str]] = {"wordpress": ("user", "password"), "ghost": ("password",), "feed": ()}


@dataclass(frozen=True, slots=True)
class Site:
    """A site of an account. `credentials` are encrypted; None: it is only read."""

    id: UUID
    account_id: UUID
    name: str
    connector: str
    url: str
    credentials: bytes | None
    facts: Mapping[str, Any]
    watch: Mapping[str, Any] | None
    watched: Mapping[str, Any] | None
    created_at: datetime

    @property
    def known(self) -> SiteFacts:
        """The site's properties, as they were found when it was added."""
        return SiteFacts.model_validate(self.facts)


FIELDS = Site.__dataclass_fields__


def save_site(
    account_id: UUID, name: str, connector: str, url: str, credentials: bytes | None, facts: SiteFacts
) -> Statement[UUID | None]:
    """Store a site, in place of one of the same name; None if there is no such account."""
    return Statement(
        "INSERT INTO site (id, account_id, name, connector, url, credentials, facts)"
        " SELECT %(id)s, a.id, %(name)s, %(connector)s, %(url)s, %(credentials)s, %(facts)s"
        " FROM account a WHERE a.id = %(account)s ON CONFLICT (account_id, name) DO UPDATE SET"
        # Another system names its posts otherwise: those that stand there are not new.
        " watched = CASE WHEN (site.connector, site.url) = (excluded.connector, excluded.url) THEN site.watched END,"
        " connector = excluded.connector, url = excluded.url, credentials = excluded.credentials,"
        " facts = excluded.facts RETURNING id",
        {
            "id": uuid4(),
            "account": account_id,
            "name": name,
            "connector": connector,
            "url": url,
            "credentials": credentials,
            "facts": Jsonb(facts.model_dump(mode="json")),
        },
        lambda rows: rows[0]["id"] if rows else None,
    )


def add_site(
    account_id: UUID, name: str, connector: str, url: str, credentials: bytes | None, facts: SiteFacts, actor: Actor
) -> list[Statement[Any]]:
    """Return statements to run together: the first is `save_site`, and the site's stopped runs go on."""
    saved = save_site(account_id, name, connector, url, credentials, facts)
    return [noted(saved, actor, Action.SITE_CHANGED, url), go_on(account_id, name)]


def list_sites(account_id: UUID | None = None) -> Statement[list[Site]]:
    """Read the sites of an account, or of all, by name."""
    return Statement(
        SQL("SELECT {} FROM site WHERE %(account)s::uuid IS NULL OR account_id = %(account)s ORDER BY name, id").format(
            columns(FIELDS)
        ),
        {"account": account_id},
        rows_of(Site),
    )


def note_facts(site_id: UUID, facts: SiteFacts) -> Statement[bool]:
    """Store the facts about a site."""
    return Statement(
        "UPDATE site SET facts = %(facts)s WHERE id = %(id)s RETURNING id",
        {"id": site_id, "facts": Jsonb(facts.model_dump(mode="json"))},
        bool,
    )


def find_site(site_id: UUID) -> Statement[Site | None]:
    """Read a site."""
    return Statement(
        SQL("SELECT {} FROM site WHERE id = %(id)s").format(columns(FIELDS)),
        {"id": site_id},
        row_of(Site),
    )


def remove_site(site_id: UUID, account_id: UUID) -> Statement[bool]:
    """Delete a site with its password and the record of its runs; the site itself stays as it is."""
    return Statement(
        "DELETE FROM site WHERE id = %(id)s AND account_id = %(account)s RETURNING id",
        {"id": site_id, "account": account_id},
        bool,
    )


def set_watch(site_id: UUID, watch: Mapping[str, Any] | None) -> Statement[bool]:
    """Watch a site from now on, or no more; existing posts stay unchanged."""
    return Statement(
        "UPDATE site SET watch = %(watch)s, watched = NULL, watch_at = now() WHERE id = %(id)s RETURNING id",
        {"id": site_id, "watch": None if watch is None else Jsonb(dict(watch))},
        bool,
    )


def claim_watched(busy: Collection[UUID] = ()) -> Statement[Site | None]:
    """Take a watched site that is due, and none of those that are busy; a suspended account's sites wait.

    It is due again after its minutes, whatever becomes of this look."""
    return Statement(
        SQL(
            "UPDATE site SET watch_at = now() + make_interval(mins => coalesce((facts->>'watch_minutes')::int, 1))"
            " WHERE id = (SELECT s.id FROM site s JOIN account a ON a.id = s.account_id WHERE s.watch IS NOT NULL"
            " AND s.watch_at <= now() AND s.id <> ALL(%(busy)s) AND a.suspended_at IS NULL"
            " ORDER BY s.watch_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED) RETURNING {}"
        ).format(columns(FIELDS)),
        {"busy": list(busy)},
        row_of(Site),
        repeatable=False,
    )


def hurry(site_id: UUID) -> Statement[bool]:
    """Look at a watched site at once, unless that was done within seconds; returns whether it is watched."""
    return Statement(
        "UPDATE site SET watch_at = CASE WHEN watch_at < now() + interval '55 seconds' THEN least(watch_at, now())"
        " ELSE watch_at END WHERE id = %(id)s AND watch IS NOT NULL RETURNING id",
        {"id": site_id},
        bool,
    )


def note_watched(site: Site, watched: Mapping[str, Any]) -> Statement[bool]:
    """Note how far a watch has come, unless it was begun anew."""
    return Statement(
        "UPDATE site SET watched = %(watched)s WHERE id = %(id)s AND watched IS NOT DISTINCT FROM %(before)s"
        " RETURNING id",
        {
            "id": site.id,
            "watched": Jsonb(dict(watched)),
            "before": None if site.watched is None else Jsonb(dict(site.watched)),
        },
        bool,
    )


@asynccontextmanager
async def open_site(site: Site, settings: Settings) -> AsyncIterator[Connector]:
    """Give a site's connector while the block lasts. Raises NotReady."""
    from capabilities.sites.connectors import open_connector  # aiohttp, which most commands do not need

    secret = SecretBox(settings).open(site.credentials) if site.credentials else b"{}"
    async with open_connector(site.connector, site.url, json.loads(secret), site.known, settings.fetch) as connector:
        yield connector


async def subscribe(site: Site, settings: Settings) -> None:
    """Have a site call us when a post is published, where it can and this service has a public address."""
    if (address := settings.api.public_url) is not None:
        async with open_site(site, settings) as connector:
            await connector.subscribe(f"{address.rstrip('/')}/sites/{site.id}/published")


async def look_up(
    settings: Settings, connector: str, url: str, credentials: Mapping[str, str]
) -> tuple[SiteFacts, bytes | None]:
    """Ask a site what it is; returns that and its credentials, encrypted. Raises SiteTrouble, NotReady."""
    from capabilities.sites.connectors import open_connector

    async with open_connector(connector, url, credentials, SiteFacts(), settings.fetch) as opened:
        opened.exchange.most_bytes = FIRST_BYTES
        facts = await opened.look_up()
    return facts, SecretBox(settings).seal(json.dumps(dict(credentials)).encode()) if credentials else None


def read_address(text: str) -> str:
    """Return a site's address, with https:// where no scheme was given. Raises InvalidRequest."""
    address = text.strip().rstrip("/")
    if not address or any(space in address for space in " \t\n"):
        raise InvalidRequest(f"{text[:60]!r} is not an address. Enter the home page, such as https://example.org.")
    return address if "://" in address else f"https://{address}"


def name_of(url: str) -> str:
    """Return the name of a site that was given none: its host, and its path, since a host may have several sites.

    A site takes the place of one of the same name."""
    name = url.partition("://")[2].removeprefix("www.").rstrip("/")
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}…{name[1 - MAX_NAME // 2 :]}"
