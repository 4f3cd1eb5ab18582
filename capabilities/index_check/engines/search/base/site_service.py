"""Site service: a search engine's service for owners of sites, used with access that they have given."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from capabilities.index_check.engines.search.base.client import PageTooLarge, Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.results.raw_result import Inspection, Reason

#: Sends a request; SearchClient.ask.
Ask = Callable[[SearchRequest], Reply]


class Trouble(StrEnum):
    """Why a service gives no answer."""

    QUOTA = "quota"  # an unnamed quota is used up
    DAY_QUOTA = "day_quota"  # the daily quota is used up
    REFUSED = "refused"  # we may not ask about this site
    NO_ACCESS = "no_access"  # our token is not accepted; a new one may be
    DISCONNECTED = "disconnected"  # the access is gone for good: revoked, deleted, or never right
    UNREADABLE = "unreadable"  # the stored access can't be used on this machine
    URL_REFUSED = "url_refused"  # the URL is not accepted
    UNKNOWN = "unknown"  # the answer is one that we don't know
    PASSING = "passing"  # not reached, or in trouble itself


class ServiceTrouble(Exception):
    """A service gives no answer. `detail` ends a sentence for people; `rest` is the wait that it asks for."""

    def __init__(self, kind: Trouble, code: str, detail: str = "", *, rest: timedelta = timedelta()) -> None:
        super().__init__(f"{code}: {detail}")
        self.kind = kind
        self.code = code
        self.detail = detail
        self.rest = rest


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """A service's answer about a URL."""

    inspection: Inspection
    reason: Reason
    code: str
    proof_url: str


class ServiceAccess(Protocol):
    """Access to a service; it keeps a token if the service wants one."""

    name: str  # its owner; no secret

    def authorize(self, request: SearchRequest) -> SearchRequest:
        """Return a request with its credentials. Raises ServiceTrouble."""

    def renew(self) -> None:
        """Get a new token for the next request."""


def send(ask: Ask, access: ServiceAccess, request: SearchRequest) -> Reply:
    """Send a request, once more with a new token if the first was refused. Raises ServiceTrouble."""
    try:
        reply = ask(access.authorize(request))
        if reply.status != 401:
            return reply
        access.renew()
        return ask(access.authorize(request))
    except (Unreachable, PageTooLarge) as error:
        raise ServiceTrouble(Trouble.PASSING, error.code, error.message) from error
