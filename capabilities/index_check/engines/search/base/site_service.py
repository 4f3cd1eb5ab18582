"""Site service: what tells owners of their own sites, with access that they have given."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from capabilities.index_check.engines.search.base.client import PageTooLarge, Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.results.urls import Reason
from capabilities.index_check.settings import SearchSettings, SiteServiceSettings
from capabilities.index_check.sites.inspection import Inspection

#: Sends a request; SearchClient.ask.
Ask = Callable[[SearchRequest], Reply]


class Trouble(StrEnum):
    """Why a service does not tell."""

    QUOTA = "quota"  # a quota is used up, it does not say which
    DAY_QUOTA = "day_quota"  # that of the day
    REFUSED = "refused"  # it does not tell us of this site
    NO_ACCESS = "no_access"  # it takes our token for none; a new one may do
    DISCONNECTED = "disconnected"  # the access is gone for good: revoked, deleted, or never right
    UNREADABLE = "unreadable"  # the stored access can't be used on this machine
    URL_REFUSED = "url_refused"  # it takes the URL for none
    UNKNOWN = "unknown"  # it answered with what we don't know
    PASSING = "passing"  # not reached, or in trouble itself


class ServiceTrouble(Exception):
    """A service does not tell. `code` and `detail`, a sentence's end, are for people; `rest` is what it asks for."""

    def __init__(self, kind: Trouble, code: str, detail: str = "", *, rest: timedelta = timedelta()) -> None:
        super().__init__(f"{code}: {detail}")
        self.kind = kind
        self.code = code
        self.detail = detail
        self.rest = rest


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What a service says of a URL. Without a `reason` it is facts alone, from which nothing follows for the index."""

    inspection: Inspection
    reason: Reason | None = None
    code: str = ""
    proof_url: str = ""


class ServiceAccess(Protocol):
    """What requests are made with; it keeps a token, if the service wants one."""

    name: str  # whose it is; no secret

    def authorize(self, request: SearchRequest) -> SearchRequest:
        """Return a request with what shows that it may be made. Raises ServiceTrouble."""

    def renew(self) -> None:
        """Take no earlier token for the next request."""


class SiteService:
    """A service; a subclass says how it is asked and read."""

    name: ClassVar[str]
    title: ClassVar[str]
    #: The index that it tells of.
    index: ClassVar[str]

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings

    @property
    def limits(self) -> SiteServiceSettings:
        """How often it may be asked."""
        limits: SiteServiceSettings = getattr(self.settings, self.name)
        return limits

    def open(self, credentials: dict[str, Any]) -> ServiceAccess:
        """Return the access that stored credentials give. Raises ServiceTrouble, NotReady."""
        raise NotImplementedError

    def list_sites(self, ask: Ask, access: ServiceAccess) -> list[str]:
        """Return the properties that an access is good for. Raises ServiceTrouble."""
        return self.read_sites(send(ask, access, self.sites_request()))

    def inspect(self, ask: Ask, access: ServiceAccess, url: str, site: str) -> ServiceAnswer:
        """Return what the service says of a URL of one of its properties. Raises ServiceTrouble."""
        return self.read(send(ask, access, self.request(url, site)), site)

    def sites_request(self) -> SearchRequest:
        """Return the request for the list of sites."""
        raise NotImplementedError

    def read_sites(self, reply: Reply) -> list[str]:
        """Return the properties of a list of sites. Raises ServiceTrouble."""
        raise NotImplementedError

    def request(self, url: str, site: str) -> SearchRequest:
        """Return the request about a URL."""
        raise NotImplementedError

    def read(self, reply: Reply, site: str) -> ServiceAnswer:
        """Return what a reply says of a URL. Raises ServiceTrouble."""
        raise NotImplementedError


def send(ask: Ask, access: ServiceAccess, request: SearchRequest) -> Reply:
    """Send a request with an access, and once more with a new token where the first was refused."""
    reply = _send_once(ask, access, request)
    if reply.status != 401:
        return reply
    access.renew()
    return _send_once(ask, access, request)


def _send_once(ask: Ask, access: ServiceAccess, request: SearchRequest) -> Reply:
    try:
        return ask(access.authorize(request))
    except (Unreachable, PageTooLarge) as error:
        raise ServiceTrouble(Trouble.PASSING, error.code, error.message) from error
