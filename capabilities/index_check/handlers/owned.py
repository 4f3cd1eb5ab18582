"""Owned: asks services for site owners about URLs of connected sites, before any search provider."""

import hashlib
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from capabilities.index_check.engines.search.base.client import SearchClient
from capabilities.index_check.engines.search.base.site_service import ServiceAnswer, ServiceTrouble, Trouble
from capabilities.index_check.engines.search.owners import site_services
from capabilities.index_check.handlers.connected import Connections
from capabilities.index_check.handlers.known_answers import KnownAnswers
from capabilities.index_check.handlers.pacer import sleep
from capabilities.index_check.handlers.unchecked import UrlUnchecked
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.requests.request import OWNED_ENGINES, lane_of, services_for
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.settings import SearchSettings, SiteServiceSettings
from capabilities.index_check.sites import site_quota
from capabilities.index_check.sites.connections import Connection, OwnedSite, note_fault
from capabilities.index_check.sites.site_quota import Booking
from pipeline.database import Database
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.timestamps import timestamp
from workers.engines import Stopped
from workers.handler import Done, Failed, Outcome, Release, Retry, Task

log = get_logger(__name__)

#: Longest wait for a site's pace while a slot is held: for a verdict, and for facts, which must not delay a URL.
LONGEST_PAUSE, SHORT_PAUSE = timedelta(seconds=5), timedelta(seconds=0.5)
#: Shortest time until a URL comes back that waits for a site.
SHORTEST_RELEASE = timedelta(seconds=0.2)
#: Until a site is looked at again whose rest another process has noted.
LOOK_AGAIN = timedelta(seconds=1)
#: URLs that wait for a daily quota come back over so long a time, not all at once.
SPREAD = timedelta(minutes=5)
#: Tries of a URL that wants one service alone, while that is in trouble.
MAX_TRIES = 4

#: The trouble that a site's rest means, by its reason; a refusal for all others.
RESTS = {None: Trouble.QUOTA, site_quota.QUOTA: Trouble.QUOTA, site_quota.UNREACHABLE: Trouble.PASSING}
QUOTAS = frozenset((Trouble.QUOTA, Trouble.DAY_QUOTA))
#: After these, another property that the URL belongs to may be asked about.
OF_THE_SITE = QUOTAS | {Trouble.REFUSED, Trouble.NO_ACCESS, Trouble.DISCONNECTED, Trouble.UNREADABLE}


class NotBooked(ServiceTrouble):
    """The site is not asked about now: its quota is used up, or it rests."""


@dataclass
class OwnedCheck:
    """The services' results for one URL."""

    facts: dict[str, Any] | None = None
    troubles: list[ServiceTrouble] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)  # services that are asked no more


class OwnedSites:
    """Asks the services at their sites' pace, and decides where a URL without an answer goes."""

    def __init__(self, settings: Settings, database: Database, answers: KnownAnswers) -> None:
        self._settings = settings.of(SearchSettings)
        self._database = database
        self._answers = answers
        self._services = site_services(settings.of(SearchSettings))
        self._connections = Connections(settings, database, self._services)
        self._client: SearchClient | None = None
        self._lock = threading.Lock()
        self._effects: Mapping[Trouble, Callable[[OwnedSite, Connection, ServiceTrouble], timedelta | None]] = {
            Trouble.QUOTA: self._note_quota,
            Trouble.DAY_QUOTA: self._note_quota,
            Trouble.REFUSED: self._note_refusal,
            Trouble.NO_ACCESS: self._note_refusal,
            Trouble.DISCONNECTED: self._note_fault,
            Trouble.UNKNOWN: self._log,
            Trouble.PASSING: self._note_passing,
        }

    def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            self._client.close()

    def check(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        """Return the first service's answer, or the lane in which the URL goes on."""
        found, wanted = OwnedCheck(), services_for(task.input.engine, task.input.index)
        connected = self._connections.sites_of(task.account_id)
        if not (sites := connected.sites.find(task.input.url, wanted)):
            # It had a site when it was submitted, maybe a moment ago.
            connected = self._connections.read_sites(task.account_id)
            sites = connected.sites.find(task.input.url, wanted)
        for site in sites:
            if task.is_stopped():
                return Release()
            if site.service in found.left_out:
                continue
            try:
                outcome = self._ask(task, site, connected.connections[site.connection_id], found)
            except ServiceTrouble as trouble:
                if site.service in OWNED_ENGINES:
                    found.troubles.append(trouble)
                if trouble.kind not in OF_THE_SITE:
                    found.left_out.add(site.service)
                continue
            if outcome is not None:
                return outcome
        return self._go_on(task, found)

    def _ask(
        self, task: Task[UrlInput], site: OwnedSite, connection: Connection, found: OwnedCheck
    ) -> Done[RawResult] | None:
        """Ask one service about the URL, or reuse its last answer; return None if it knows facts alone.

        Google takes each way to write a URL for a URL of its own, and only this connection reuses its answers."""
        name = f"{site.service}:{site.connection_id}"
        page = hashlib.sha256(task.input.url.partition("#")[0].encode()).digest()
        if site.service in OWNED_ENGINES and (known := self._answers.find(task, page, [name])) is not None:
            return Done(RawResult(**known), engine=site.service, credits=0)
        answer = self._inspect(task, site, connection)
        inspection = answer.inspection.model_dump(exclude_none=True)
        if answer.reason is None:
            found.facts = inspection
            found.left_out.add(site.service)
            return None
        url = task.input.url
        output: dict[str, Any] = {
            "reason": answer.reason,
            "code": answer.code,
            "provider": site.service,
            "index": self._services[site.service].index,
            "query": url,
            "checked_at": timestamp(datetime.now(UTC)),
            "matched_url": (answer.inspection.google_canonical or url) if answer.reason == "indexed" else None,
            "inspection": inspection,
        }
        if answer.proof_url:
            output["proofUrl"] = answer.proof_url
        if self._settings.reuse.longest:
            self._answers.keep(name, page, output, pace_name=name)
        return Done(RawResult(**output), engine=site.service)

    def _inspect(self, task: Task[UrlInput], site: OwnedSite, connection: Connection) -> ServiceAnswer:
        """Return a service's answer; ask again after a passing fault. Raises ServiceTrouble, Stopped."""
        service, url = self._services[site.service], task.input.url.partition("#")[0]
        tries = self._settings.tries if site.service in OWNED_ENGINES else 1
        for tries_left in range(tries - 1, -1, -1):
            try:
                access = self._connections.access(connection)
                booking = self._book(task, site, service.limits)
                answer = service.inspect(self._open_client().ask, access, url, site.property)
            except NotBooked:
                raise
            except ServiceTrouble as trouble:
                if trouble.kind is Trouble.PASSING and tries_left:
                    continue
                note = self._effects.get(trouble.kind)
                trouble.rest = (note(site, connection, trouble) if note else None) or LOOK_AGAIN
                raise
            if booking.troubles:
                self._database.run(site_quota.note_answer(site))
            return answer
        raise AssertionError("a try without an end")

    def _book(self, task: Task[UrlInput], site: OwnedSite, limits: SiteServiceSettings) -> Booking:
        """Book a request and wait for its time. Raises NotBooked, Stopped."""
        most = LONGEST_PAUSE if site.service in OWNED_ENGINES else SHORT_PAUSE
        booking = self._database.run(site_quota.book(site, limits, most=most))
        if not booking.is_booked:
            kind = RESTS.get(booking.reason, Trouble.REFUSED)
            detail = f"{site.service} is not asked about {site.property} for now ({booking.reason or 'its pace'})"
            raise NotBooked(kind, booking.reason or site_quota.QUOTA, detail, rest=booking.wait)
        if booking.wait and not sleep(booking.wait.total_seconds(), task.is_stopped):
            raise Stopped
        return booking

    def _go_on(self, task: Task[UrlInput], found: OwnedCheck) -> Outcome[RawResult]:
        """Return where a URL goes that no service has answered."""
        is_named = task.input.engine in OWNED_ENGINES
        waited_for = [one for one in found.troubles if one.kind in QUOTAS or (is_named and is_rest(one))]
        rest = min((trouble.rest for trouble in waited_for), default=None)
        if rest is not None and (is_named or rest <= site_quota.SHORT_REST):
            spread = SPREAD * random.random() if rest > site_quota.SHORT_REST else timedelta()  # noqa: S311  no secret
            return Release(max(rest, SHORTEST_RELEASE) + spread)
        if is_named:
            return self._fail(task, found)
        if found.facts is not None:
            task.save({**(task.checkpoint or {}), "inspection": found.facts})
        return Release(lane=lane_of(task.input.engine, task.input.index))

    def _fail(self, task: Task[UrlInput], found: OwnedCheck) -> Failed | Retry:
        """Return the outcome of a URL whose request wants this service alone."""
        shown: dict[str, Any] = {"provider": task.input.engine, "index": OWNED_ENGINES.get(task.input.engine or "")}
        if not found.troubles:
            cause = f"its site is connected to {task.input.engine} no more"
            return Failed(UrlUnchecked("site_not_connected", cause=cause, remedy="Connect it again.", **shown))
        trouble = found.troubles[-1]
        error = UrlUnchecked(trouble.code, cause=trouble.detail, **shown)
        if trouble.kind is Trouble.PASSING and task.attempts + 1 < MAX_TRIES:
            return Retry(timedelta(seconds=self._settings.unreachable_seconds) * 2**task.attempts, error)
        return Failed(error)

    def _open_client(self) -> SearchClient:
        """Return the client, made for the first owned URL: most systems have none."""
        with self._lock:
            if self._client is None:
                self._client = SearchClient(self._settings)
            return self._client

    def _note_quota(self, site: OwnedSite, _: Connection, trouble: ServiceTrouble) -> timedelta | None:
        is_of_the_day = trouble.kind is Trouble.DAY_QUOTA
        log.warning("quota of a site used up", service=site.service, site=site.property, of_the_day=is_of_the_day)
        asked_for = min(trouble.rest, timedelta(hours=self._settings.max_rest_hours))
        return self._database.run(site_quota.note_quota(site, is_of_the_day=is_of_the_day, asked_for=asked_for))

    def _note_refusal(self, site: OwnedSite, _: Connection, trouble: ServiceTrouble) -> None:
        log.warning("site refused", service=site.service, site=site.property, code=trouble.code, detail=trouble.detail)
        rest = timedelta(minutes=self._settings.off_minutes)
        self._database.run(site_quota.note_refusal(site, trouble.code, strikes=self._settings.strikes, rest=rest))

    def _note_passing(self, site: OwnedSite, _: Connection, trouble: ServiceTrouble) -> None:
        log.info("site service not reached", service=site.service, site=site.property, code=trouble.code)
        rest = timedelta(seconds=self._settings.unreachable_seconds)
        self._database.run(site_quota.note_unreachable(site, strikes=self._settings.strikes, rest=rest))

    def _note_fault(self, site: OwnedSite, connection: Connection, trouble: ServiceTrouble) -> None:
        log.error("site connection does not work", service=site.service, name=connection.name, code=trouble.code)
        self._database.run(note_fault(connection, f"{trouble.code}: {trouble.detail}"))
        self._connections.forget(connection.account_id)

    def _log(self, site: OwnedSite, _: Connection, trouble: ServiceTrouble) -> None:
        shown = {"service": site.service, "site": site.property, "code": trouble.code, "detail": trouble.detail}
        log.warning("site not asked", **shown)


def is_rest(trouble: ServiceTrouble) -> bool:
    """Return whether a service was not even asked, because it was in trouble a moment ago."""
    return isinstance(trouble, NotBooked) and trouble.kind is Trouble.PASSING


def with_inspection(outcome: Outcome[RawResult], task: Task[UrlInput]) -> Outcome[RawResult]:
    """Return a provider's outcome with the facts that a service for site owners gave before.

    They are added last: a provider's answer is kept for all accounts, and these facts are one account's alone."""
    facts = (task.checkpoint or {}).get("inspection")
    if facts is None or not isinstance(outcome, Done):
        return outcome
    output = outcome.output.model_dump(by_alias=True, exclude_unset=True)
    return Done(RawResult.model_validate({**output, "inspection": facts}), outcome.engine, outcome.credits)
