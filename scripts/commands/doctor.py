"""`pressroom doctor`: is everything there, and do the books balance?"""

import os
import platform
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import typer
from redis.exceptions import RedisError
from rich.console import Console
from rich.table import Column, Table

from pipeline import lifecycle
from pipeline.artifacts import Artifacts, open_store, store_url
from pipeline.broker import connect
from pipeline.database import Database, Statement
from pipeline.errors import PressroomError
from pipeline.kinds.index_check.pacing import list_rests
from pipeline.ledger import discrepancies
from pipeline.offers import read_offers
from pipeline.settings import Settings
from scripts.commands import SYSTEM, under
from scripts.options import PATIENCE, Data, settings_for
from scripts.site_connections import list_sites
from scripts.system.control import find_system, settings_of_running
from scripts.terminal import plain


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `needed` ones make the command fail."""

    subject: str
    ready: bool
    detail: str
    needed: bool = True


def doctor(data: Data = None) -> None:
    """Check every server, the store, the engines and the ledger; exit code 1 when something needed is missing."""
    settings = settings_for(data)
    findings = list(_findings(settings))
    table = Table("", "what", Column("state", overflow="fold"), header_style="bold")
    for finding in findings:
        mark = "[green]ok[/]" if finding.ready else "[red]--[/]"
        table.add_row(mark, plain(finding.subject), plain(finding.detail))
    Console().print(table)
    if any(finding.needed and not finding.ready for finding in findings):
        raise typer.Exit(1)


def _findings(settings: Settings) -> Iterator[Finding]:
    from workers.media.audio.ffmpeg import find_ffmpeg  # no other command needs what workers need

    yield Finding("Python", ready=True, detail=f"{platform.python_version()} on {platform.platform()}")
    database_url = yield from _system(settings)
    yield _checked("artifact store", lambda: _check_store(settings))
    yield _checked("ffmpeg", lambda: find_ffmpeg(settings).path)
    yield from _engines(settings, database_url)
    yield from _sites(settings, database_url)


def _system(settings: Settings) -> Generator[Finding, None, str | None]:
    """Look at the servers; returns where the database is, if it answers."""
    try:
        running = settings_of_running(settings)
    except PressroomError as error:
        yield Finding("system", ready=False, detail=error.message)
        return None
    try:
        if system := find_system(settings.data):
            yield Finding("system", ready=True, detail=f"running at {system.address} (pid {system.pid})")
    except PressroomError as error:  # servers that are set are there without it
        yield Finding("system", ready=False, detail=error.message)
    database_url, redis_url = running.server_urls()
    answered = _checked("PostgreSQL", lambda: _check_database(database_url))
    yield answered
    yield _checked("Redis", lambda: f"version {connect(redis_url).info('server')['redis_version']}")
    if not answered.ready:
        return None
    yield _checked("ledger", lambda: _check_ledger(database_url))
    return database_url


def _engines(settings: Settings, database_url: str | None) -> Iterator[Finding]:
    from workers.engines.registry import advise, list_families, load_engines

    told, rests = _known(database_url) if database_url else ({}, {})
    for family in list_families():
        try:
            engines = load_engines(settings, family)
        except PressroomError as error:
            yield Finding(family, ready=False, detail=error.message)
            continue
        for engine in engines:
            # A pool that has tried knows more: weights that are there may be broken, and a hub out of reach.
            needs = engine.readiness() or told.get((family, engine.name)) or rests.get(getattr(engine, "pace_name", ""))
            promise = ", ".join(filter(None, ("ready", getattr(engine, "promise", ""))))
            yield Finding(f"{family}: {engine.name}", needs is None, needs or promise, needed=False)
        for advice in advise(family, engines):
            yield Finding(family, ready=False, detail=advice, needed=False)
        yield from _models(settings, family)


def _sites(settings: Settings, database_url: str | None) -> Iterator[Finding]:
    """Say of each connected site how many requests are left today, or why it can't be asked about."""
    if database_url is None:
        return
    try:
        with Database(database_url, patience=PATIENCE) as database:
            found = list_sites(database, settings)
    except (PressroomError, psycopg.Error) as error:
        yield Finding("connected sites", ready=False, detail=f"{type(error).__name__}: {error}", needed=False)
        return
    for one in found:
        whose = f"{one.connection.name}, account {one.connection.account_id}"
        yield Finding(f"{one.connection.service}: {one.site}", one.ready, f"{one.state} ({whose})", needed=False)


def _models(settings: Settings, family: str) -> Iterator[Finding]:
    """Say which models of a family this machine would run, and are not here yet."""
    from workers.catalogue.advice import command, wanted
    from workers.catalogue.machine import gigabytes
    from workers.catalogue.store import ModelStore

    models = wanted(ModelStore(settings), family) if settings.models.download != "never" else ()
    if models:
        size = gigabytes(sum(model.size_bytes for model in models))
        gives = "; ".join(dict.fromkeys(model.gives for model in models))
        yield Finding(
            f"{family}: models", ready=False, detail=f"{command(models)} brings {gives} ({size})", needed=False
        )


def _known(database_url: str) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Return what pools say that their engines lack, and which search providers rest; nothing if it went away."""
    try:
        with Database(database_url, patience=PATIENCE) as database:
            offers, rests = database.run(read_offers()), database.run(list_rests())
    except (PressroomError, psycopg.Error):
        return {}, {}
    from workers.handlers.index_check.unchecked import advice_on

    said = {
        rest.name: f"is not asked before {rest.until} UTC, {advice_on(rest.reason, rest.name.partition(':')[0])}"
        for rest in rests
    }
    told = {(offer.family, offer.engine): f"the pool says: {offer.needs}" for offer in offers if offer.needs}
    return told, said


def _checked(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, ready=True, detail=check())
    except (PressroomError, psycopg.Error, RedisError, OSError, ValueError) as error:  # ValueError: a URL that is none
        return Finding(subject, ready=False, detail=f"{type(error).__name__}: {error}")


def _check_database(url: str) -> str:
    statement = (
        "SELECT current_setting('server_version') AS version, to_regnamespace(%(schema)s) IS NOT NULL AS installed"
    )
    with Database(url, patience=PATIENCE) as database:
        found = database.run(Statement(statement, {"schema": lifecycle.SCHEMA}, lambda rows: rows[0]))
    if not found["installed"]:
        raise PressroomError("Migrations are missing; run `pressroom migrate`.")
    return f"version {found['version']}, migrated"


def _check_ledger(url: str) -> str:
    with Database(url, patience=PATIENCE) as database:
        found = database.run(discrepancies())
    if found:
        raise PressroomError("; ".join(map(str, found[:5])))
    return "every balance is the sum of its entries"


def _check_store(settings: Settings) -> str:
    if _is_still_to_be_made(settings):
        return f"{store_url(settings)}, which will be made when it is needed"
    key, data = f"doctor/{uuid4()}", b"pressroom"
    artifacts = Artifacts(open_store(settings))
    artifacts.put(key, data)
    if artifacts.get(key) != data:
        raise PressroomError("What was written is not what was read.")
    artifacts.delete(key)
    return store_url(settings)


def _is_still_to_be_made(settings: Settings) -> bool:
    """Return whether the store is a folder that nothing has made yet; who only looks doesn't make it.

    Raises PressroomError when it can't be made."""
    url = store_url(settings)
    folder = Path(url.removeprefix("file://"))
    if url.startswith("s3://") or folder.exists():
        return False
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise PressroomError(f"{folder} can't be made: {above} is no folder that you may write to.")
    return True


register = under(SYSTEM, doctor)
