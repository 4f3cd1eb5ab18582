"""Examination: all of the doctor's checks, in order."""

import platform
from collections.abc import Generator, Iterator

from pipeline.capabilities import parts
from pipeline.errors import NotReady, PressroomError
from pipeline.settings import Settings
from pipeline.wakes.broker import connect
from scripts.doctor.engines import examine_engines
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
from scripts.system.control import find_system, settings_of_running
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.models.machine import this_machine


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
