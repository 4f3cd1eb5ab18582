"""Examination: all of the doctor's checks, in order."""

import platform
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pipeline.capabilities import parts
from pipeline.database import Database
from pipeline.errors import NotReady, PressroomError
from pipeline.offers.offers import Breaker, Offer, read_offers
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.wakes.broker import connect
from scripts.doctor.finding import Finding, Mark, checked
from scripts.doctor.servers import (
    check_database,
    check_disk,
    check_ledger,
    check_mail,
    check_memory,
    check_store,
    embedded_servers,
)
from scripts.options import PATIENCE
from scripts.system.control import find_system, settings_of_running
from workers.engines.endpoints.watch import EndpointWatch
from workers.engines.registry import advise, list_families, load_engines
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.models.advice import brings, wanted
from workers.models.machine import this_machine
from workers.models.store import ModelStore


def examine(settings: Settings) -> Iterator[Finding]:
    """Check everything."""
    yield Finding("Python", Mark.READY, f"{platform.python_version()} on {platform.platform()}")
    yield checked("memory", lambda: check_memory(this_machine()))
    yield checked("disk", lambda: check_disk(settings.data))
    database_url = yield from _system(settings)
    yield checked("artifact store", lambda: check_store(settings))
    yield check_mail(settings)
    yield checked("ffmpeg", lambda: find_ffmpeg(settings).path)
    yield from examine_engines(settings, database_url)
    for part in parts("doctor"):
        yield from part.examine(settings, database_url)


def _system(settings: Settings) -> Generator[Finding, None, str | None]:
    """Check the servers; returns the database's URL if it answers."""
    try:
        system = find_system(settings.data)
    except PressroomError as error:  # servers that are set do not need it
        yield Finding("system", Mark.MISSING, error.message)
        if not (settings.database_url and settings.redis_url):
            return None
    else:
        if system:
            yield Finding("system", Mark.READY, f"running at {system.address} (pid {system.pid})")
        elif not (settings.database_url and settings.redis_url):
            yield Finding("system", Mark.ABSENT, f"off: `pressroom up` starts it on {settings.data}")
    try:
        database_url, redis_url = settings_of_running(settings).server_urls()
    except NotReady:
        yield from _servers_that_would_start(settings)
        return None
    answered = checked("PostgreSQL", lambda: check_database(database_url))
    yield answered
    yield checked("Redis", lambda: f"version {connect(redis_url).info('server')['redis_version']}")
    if answered.mark is not Mark.READY:
        return None
    yield checked("ledger", lambda: check_ledger(database_url))
    return database_url


def _servers_that_would_start(settings: Settings) -> Iterator[Finding]:
    """Name the servers that a system would start, and check those that are set."""
    if settings.database_url:
        yield checked("PostgreSQL", lambda: check_database(settings.database_url or ""))
    if settings.redis_url:
        url = settings.redis_url
        yield checked("Redis", lambda: f"version {connect(url).info('server')['redis_version']}")
    for name, check in embedded_servers(settings):
        found = checked(name, check)
        yield found if found.mark is Mark.MISSING else Finding(name, Mark.ABSENT, found.detail)
    yield Finding("ledger", Mark.ABSENT, "is checked while the system runs")


@dataclass(frozen=True)
class KnownState:
    """The offers of pools and the breakers of services, as the database has them."""

    offers: Mapping[tuple[str, str], Offer] = field(default_factory=dict)
    breakers: Mapping[str, Breaker] = field(default_factory=dict)


def examine_engines(settings: Settings, database_url: str | None) -> Iterator[Finding]:
    """Check the engines of all families."""
    known = _read(settings, database_url) if database_url else KnownState()
    loaded: dict[str, Sequence[Any] | PressroomError] = {}
    for family in list_families():
        try:
            loaded[family] = load_engines(settings, family)
        except PressroomError as error:
            loaded[family] = error
    engines = [engine for found in loaded.values() if not isinstance(found, PressroomError) for engine in found]
    ready = [engine for engine in engines if engine.readiness() is None]
    told: dict[str, tuple[Mark, str]] = {}
    for part in parts("doctor"):
        told |= part.examine_services(ready, known.breakers)
    for family, found in loaded.items():
        if isinstance(found, PressroomError):
            yield Finding(family, Mark.MISSING, found.message)
            continue
        for engine in found:
            yield _finding(family, engine, known, told)
        for advice in advise(family, found):
            yield Finding(family, Mark.ABSENT, advice)
        yield from _models(settings, family)


def _finding(family: str, engine: Any, known: KnownState, told: Mapping[str, tuple[Mark, str]]) -> Finding:
    subject, promise = f"{family}: {engine.name}", getattr(engine, "promise", "")
    if needs := engine.readiness():
        return Finding(subject, Mark.ABSENT, needs)
    # A pool that has tried knows more: weights that are there may be broken, and a hub out of reach.
    offer = known.offers.get((family, engine.name))
    if offer is not None and offer.needs:
        return Finding(subject, Mark.ABSENT, f"the pool says: {offer.needs}")
    here = "ready" if offer is not None else "ready to be set up; no pool has done so yet"
    mark, said = told.get(engine.name, (Mark.READY, here))
    return Finding(subject, mark, ", ".join(filter(None, (said, promise if mark is Mark.READY else ""))))


def _read(settings: Settings, database_url: str) -> KnownState:
    """Return the database's part, or nothing if it is away."""
    try:
        with Database(database_url, patience=PATIENCE) as database:
            offers = {(offer.family, offer.engine): offer for offer in database.run(read_offers())}
            statements = [kind.breakers() for kind in load_kinds(settings).values()]
            found = [one for statement in statements if statement for one in database.run(statement)]
            EndpointWatch(settings, database).look()
    except (PressroomError, psycopg.Error):
        return KnownState()
    return KnownState(offers, {one.name: one for one in found})


def _models(settings: Settings, family: str) -> Iterator[Finding]:
    """Name the missing models of a family that suit this machine."""
    models = wanted(ModelStore(settings), family) if settings.models.download != "never" else ()
    if models:
        yield Finding(f"{family}: models", Mark.ABSENT, brings(models, settings.models.download))
