"""Owned: asks Search Console about URLs of connected sites, before any search provider."""

import hashlib
import json
import random
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from capabilities.index_check.engines.search.base.client import SearchClient
from capabilities.index_check.engines.search.base.site_service import (
    ServiceAccess,
    ServiceAnswer,
    ServiceTrouble,
    Trouble,
)
from capabilities.index_check.engines.search.owners.search_console import SearchConsole
from capabilities.index_check.handlers.known_answers import KnownAnswers
from capabilities.index_check.handlers.pacer import sleep
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.causes import UrlUnchecked
from capabilities.index_check.requests.request import OWNED_INDEX, is_for_owners, lane_of
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.results.verdicts import keep_verdict
from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites import site_quota
from capabilities.index_check.sites.connections import (
    SEARCH_CONSOLE,
    Connection,
    OwnedSite,
    SiteMap,
    list_connections,
    note_fault,
)
from capabilities.index_check.sites.site_quota import Booking
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.timestamps import timestamp
from workers.engines import Stopped
from workers.handler import Done, Failed, Outcome, Release, Retry, Task

log = get_logger(__name__)

#: Longest wait for a site's pace while a slot is held.
LONGEST_PAUSE = timedelta(seconds=5)
#: Shortest time until a URL comes back that waits for a site.
SHORTEST_RELEASE = timedelta(seconds=0.2)
#: Until a site is looked at again whose rest another process has noted.
LOOK_AGAIN = timedelta(seconds=1)
#: URLs that wait for a daily quota come back over so long a time, not all at once.
SPREAD = timedelta(minutes=5)
#: Tries of a URL that wants this service alone, while that is in trouble.
MAX_TRIES = 4
MAX_OPEN = 1_000

#: The trouble that a site's rest means, by its reason; a refusal for all others.
RESTS = {None: Trouble.QUOTA, site_quota.QUOTA: Trouble.QUOTA, site_quota.UNREACHABLE: Trouble.PASSING}
QUOTAS = frozenset((Trouble.QUOTA, Trouble.DAY_QUOTA))
#: Troubles of a URL, or logged once (`_access`).
UNLOGGED = frozenset((Trouble.URL_REFUSED, Trouble.UNREADABLE))
#: After these, another property that the URL belongs to may be asked about.
OF_THE_SITE = QUOTAS | {Trouble.REFUSED, Trouble.NO_ACCESS, Trouble.DISCONNECTED, Trouble.UNREADABLE}


class NotBooked(ServiceTrouble):
    """The site is not asked about now: its quota is used up, or it rests."""


class OwnedSites:
    """Asks the service at its sites' pace, and decides where a URL without an answer goes."""

    def __init__(self, settings: Settings, database: Database, client: SearchClient, answers: KnownAnswers) -> None:
        self._settings = settings.of(SearchSettings)
        self._database = database
        self._answers = answers
        self._service = SearchConsole(self._settings)
        self._box = SecretBox(settings)
        self._accesses: dict[tuple[UUID, bytes], ServiceAccess] = {}
        self._unreadable: set[UUID] = set()  # connections that were logged, once each
        self._client = client
        self._lock = threading.Lock()

    def check(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        read = self._database.run(list_connections(account_id=task.account_id))
        working = {connection.id: connection for connection in read if connection.fault is None}
        is_asked = is_for_owners(task.input.engine, task.input.index)
        sites = SiteMap(site for connection in working.values() for site in connection.sites if is_asked)
        troubles: list[ServiceTrouble] = []
        for site in sites.find(task.input.url):
            if task.is_stopped():
                return Release()
            try:
                return self._ask(task, site, working[site.connection_id])
            except ServiceTrouble as trouble:
                troubles.append(trouble)
                if trouble.kind not in OF_THE_SITE:
                    break
        return self._go_on(task, troubles)

    def _ask(self, task: Task[UrlInput], site: OwnedSite, connection: Connection) -> Done[RawResult]:
        """Ask about the URL, or reuse the last answer. Raises ServiceTrouble, Stopped.

        Google takes each way to write a URL for a URL of its own, and only this connection reuses its answers."""
        name = f"{site.service}:{site.connection_id}"
        page = hashlib.sha256(task.input.url.partition("#")[0].encode()).digest()
        if (known := self._answers.find(task, page, [name])) is not None:
            return Done(RawResult(**known), engine=site.service, credits=0)
        answer = self._inspect(task, site, connection)
        inspection = answer.inspection.model_dump(exclude_none=True)
        url = task.input.url
        output: dict[str, Any] = {
            "reason": answer.reason,
            "code": answer.code,
            "provider": site.service,
            "index": OWNED_INDEX,
            "query": url,
            "checked_at": timestamp(datetime.now(UTC)),
            "matched_url": (answer.inspection.google_canonical or url) if answer.reason == "indexed" else None,
            "inspection": inspection,
        }
        if answer.proof_url:
            output["proofUrl"] = answer.proof_url
        if self._settings.reuse.longest:
            self._database.run(keep_verdict(name, page, output, pace_name=name))
        return Done(RawResult(**output), engine=site.service)

    def _inspect(self, task: Task[UrlInput], site: OwnedSite, connection: Connection) -> ServiceAnswer:
        """Return Google's answer; ask again after a passing fault. Raises ServiceTrouble, Stopped."""
        url = task.input.url.partition("#")[0]
        for tries_left in range(self._settings.tries - 1, -1, -1):
            try:
                access = self._access(connection)
                booking = self._book(task, site)
                answer = self._service.inspect(self._client.ask, access, url, site.property)
            except NotBooked:
                raise
            except ServiceTrouble as trouble:
                if trouble.kind is Trouble.PASSING and tries_left:
                    continue
                trouble.rest = self._note(site, connection, trouble) or LOOK_AGAIN
                raise
            if booking.troubles:
                self._database.run(site_quota.note_answer(site))
            return answer
        raise AssertionError("a try without an end")

    def _book(self, task: Task[UrlInput], site: OwnedSite) -> Booking:
        """Book a request and wait for its time. Raises NotBooked, Stopped."""
        limits = self._settings.search_console
        booking = self._database.run(site_quota.book(site, limits, most=LONGEST_PAUSE))
        if not booking.is_booked:
            kind = RESTS.get(booking.reason, Trouble.REFUSED)
            detail = f"{site.service} is not asked about {site.property} for now ({booking.reason or 'its pace'})"
            raise NotBooked(kind, booking.reason or site_quota.QUOTA, detail, rest=booking.wait)
        if booking.wait and not sleep(booking.wait.total_seconds(), task.is_stopped):
            raise Stopped
        return booking

    def _go_on(self, task: Task[UrlInput], troubles: Sequence[ServiceTrouble]) -> Outcome[RawResult]:
        is_named = task.input.engine == SEARCH_CONSOLE
        # A service that was in trouble a moment ago was not even asked.
        waited_for = [
            one
            for one in troubles
            if one.kind in QUOTAS or (is_named and one.kind is Trouble.PASSING and isinstance(one, NotBooked))
        ]
        rest = min((trouble.rest for trouble in waited_for), default=None)
        if rest is not None and (is_named or rest <= site_quota.SHORT_REST):
            spread = SPREAD * random.random() if rest > site_quota.SHORT_REST else timedelta()  # noqa: S311  no secret
            return Release(max(rest, SHORTEST_RELEASE) + spread)
        if is_named:
            return self._fail(task, troubles)
        return Release(lane=lane_of(task.input.engine, task.input.index))

    def _fail(self, task: Task[UrlInput], troubles: Sequence[ServiceTrouble]) -> Failed | Retry:
        shown: dict[str, Any] = {"provider": task.input.engine, "index": OWNED_INDEX}
        if not troubles:
            cause = f"its site is no longer connected to {task.input.engine}"
            return Failed(UrlUnchecked("site_not_connected", cause=cause, remedy="Connect it again.", **shown))
        trouble = troubles[-1]
        error = UrlUnchecked(trouble.code, cause=trouble.detail, **shown)
        if trouble.kind is Trouble.PASSING and task.attempts + 1 < MAX_TRIES:
            return Retry(timedelta(seconds=self._settings.unreachable_seconds) * 2**task.attempts, error)
        return Failed(error)

    def _access(self, connection: Connection) -> ServiceAccess:
        """Return a connection's access, the same for all its URLs. Raises ServiceTrouble."""
        key = (connection.id, connection.credentials)
        with self._lock:
            if key not in self._accesses:
                if len(self._accesses) >= MAX_OPEN:
                    self._accesses.clear()
                try:
                    credentials = json.loads(self._box.open(connection.credentials))
                    self._accesses[key] = self._service.open(credentials)
                except NotReady as error:
                    # Another machine may have the key. The error has paths of this one, which are not for users.
                    if connection.id not in self._unreadable:
                        self._unreadable.add(connection.id)
                        log.error("stored access can't be used here", name=connection.name, reason=error.message)
                    cause = "the stored access to its site can't be used; `pressroom doctor` tells the operator why"
                    raise ServiceTrouble(Trouble.UNREADABLE, error.code, cause) from error
            return self._accesses[key]

    def _note(self, site: OwnedSite, connection: Connection, trouble: ServiceTrouble) -> timedelta | None:
        """Note a trouble for all processes; return how long a site without quota rests."""
        if trouble.kind not in UNLOGGED:
            shown = {"service": site.service, "site": site.property, "code": trouble.code, "detail": trouble.detail}
            log.warning("site not answered", trouble=trouble.kind, **shown)
        run, strikes = self._database.run, self._settings.strikes
        match trouble.kind:
            case Trouble.QUOTA | Trouble.DAY_QUOTA:
                is_of_the_day = trouble.kind is Trouble.DAY_QUOTA
                asked_for = min(trouble.rest, timedelta(hours=self._settings.max_rest_hours))
                return run(site_quota.note_quota(site, is_of_the_day=is_of_the_day, asked_for=asked_for))
            case Trouble.REFUSED | Trouble.NO_ACCESS:
                rest = timedelta(minutes=self._settings.off_minutes)
                run(site_quota.note_refusal(site, trouble.code, strikes=strikes, rest=rest))
            case Trouble.DISCONNECTED:
                run(note_fault(connection, f"{trouble.code}: {trouble.detail}"))
            case Trouble.PASSING:
                rest = timedelta(seconds=self._settings.unreachable_seconds)
                run(site_quota.note_unreachable(site, strikes=strikes, rest=rest))
        return None
