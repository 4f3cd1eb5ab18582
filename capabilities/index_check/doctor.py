"""The doctor of index checks: the last answers of search providers, and connected sites."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import psycopg

from capabilities.index_check.commands.connected_sites import list_sites
from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.providers.causes import advice_on
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.offers.offers import Breaker
from pipeline.settings import Settings
from scripts.doctor.finding import Finding, Mark
from scripts.options import PATIENCE


def examine_services(engines: Sequence[Any], breakers: Mapping[str, Breaker]) -> dict[str, tuple[Mark, str]]:
    """Return the state of each search provider among the engines that are ready, by its last answers to pools."""
    providers = [engine for engine in engines if isinstance(engine, Provider)]
    return {one.name: _state(one, breakers.get(one.pace_name)) for one in providers}


def examine(settings: Settings, database_url: str | None) -> Iterator[Finding]:
    """Yield the requests left today for each connected site, or why it can't be asked about."""
    if database_url is None:
        return
    try:
        with Database(database_url, patience=PATIENCE) as database:
            found = list_sites(database, settings)
    except (PressroomError, psycopg.Error) as error:
        yield Finding("connected sites", Mark.ABSENT, f"{type(error).__name__}: {error}")
        return
    for one in found:
        whose = f"{one.connection.name}, account {one.connection.account_id}"
        mark = Mark.READY if one.ready else Mark.ABSENT
        yield Finding(f"search_console: {one.site}", mark, f"{one.state} ({whose})")


def _state(provider: Provider, breaker: Breaker | None) -> tuple[Mark, str]:
    if breaker is not None and breaker.is_resting:
        until = f"{breaker.until:%Y-%m-%d %H:%M} UTC" if breaker.until else "later"
        return Mark.ABSENT, f"is not asked before {until}, {advice_on(breaker.cause, provider.name)}"
    if breaker is not None and breaker.answered_at and breaker.has_answered:
        minutes = (breaker.now - breaker.answered_at) // timedelta(minutes=1)
        return Mark.READY, f"ready, it answered {minutes} min ago"
    return Mark.READY, "set up; it has not been asked within the hour"
