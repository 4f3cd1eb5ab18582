"""The doctor of index checks: asks search providers for a site that each lists, and examines connected sites.

Providers are asked within their pace, and their answers are noted for all processes."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg

from capabilities.index_check.commands.connected_sites import list_sites
from capabilities.index_check.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import OPERATORS, Provider
from capabilities.index_check.engines.search.base.verdict import Verdict, classify
from capabilities.index_check.handlers.feedback import event_of
from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.causes import advice_on
from capabilities.index_check.providers.circuit_breaker import note
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database
from pipeline.downloads.urls import match_key
from pipeline.errors import PressroomError
from pipeline.offers.offers import Breaker
from pipeline.settings import Settings
from scripts.doctor.finding import Finding, Mark
from scripts.options import PATIENCE

#: A person waits for the answer.
LONGEST_WAIT_SECONDS = 10.0
#: A booking that nobody ends is free again after this time.
BUSY_FOR = timedelta(seconds=2 * LONGEST_WAIT_SECONDS)


def examine_services(
    engines: Sequence[Any],
    breakers: Mapping[str, Breaker],
    settings: Settings,
    database_url: str | None,
    *,
    ask: bool | None,
) -> dict[str, tuple[Mark, str]]:
    """Return the state of each search provider among the engines that are ready; ask where that is wanted."""
    providers = [engine for engine in engines if isinstance(engine, Provider)]
    to_ask = [one for one in providers if _is_to_be_asked(one, breakers.get(one.pace_name), ask=ask)]
    answers = _ask(to_ask, settings, database_url)
    return {one.name: _state(one, breakers.get(one.pace_name), answers.get(one.pace_name)) for one in providers}


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


def _ask(providers: Sequence[Provider], settings: Settings, database_url: str | None) -> Mapping[str, Verdict]:
    """Ask providers, and note their answers for all processes; return the verdicts by pace name.

    A provider that a pool is asking at this moment is left out: its pace allows no other query."""
    search = settings.of(SearchSettings)
    search = search.model_copy(update={"limit_seconds": min(search.limit_seconds, LONGEST_WAIT_SECONDS)})
    if not providers:
        return {}
    if database_url is None:
        return _try_all(providers, search)
    try:
        with Database(database_url, patience=PATIENCE) as database:
            database.run(pacing.add_providers([one.pace_name for one in providers]))
            free = [
                one for one in providers if database.run(pacing.book(one.pace, alone=one.pace.alone, busy_for=BUSY_FOR))
            ]
            verdicts = _try_all(free, search)
            for one in free:
                found = verdicts[one.pace_name]
                event = event_of(one, found)
                database.run(note(one.pace_name, event, search, reason=found.cause, asked_for=found.rest))
            return verdicts
    except (PressroomError, psycopg.Error):
        return {}


def _try_all(providers: Sequence[Provider], settings: SearchSettings) -> Mapping[str, Verdict]:
    """Ask all providers at once for the control site; return their verdicts by pace name."""
    with closing(SearchClient(settings)) as client, ThreadPoolExecutor(len(providers) or 1) as threads:
        verdicts = threads.map(partial(_try, client, settings), providers)
        return {one.pace_name: verdict for one, verdict in zip(providers, verdicts, strict=True)}


def _try(client: SearchClient, settings: SearchSettings, provider: Provider) -> Verdict:
    site = settings.control_site
    query = provider.site_query(f"https://{site}")
    try:
        reply = provider.meaning(client.ask(provider.request(query)))
        reading = provider.parse(reply)
    except (Unreachable, PageTooLarge) as error:
        return Verdict("error", error.code)
    verdict = classify(provider, reply, reading, match_key(site) or site, is_operator=query.startswith(OPERATORS))
    # A page without one row of a site that everybody lists answers nothing.
    is_empty = verdict.is_answer and not verdict.match.has_host
    return Verdict("error", "empty_unproven") if is_empty else verdict


def _is_to_be_asked(provider: Provider, breaker: Breaker | None, *, ask: bool | None) -> bool:
    if ask is False or (breaker is not None and (breaker.is_resting or breaker.has_answered)):
        return False
    return ask or not provider.needs_key


def _state(provider: Provider, breaker: Breaker | None, verdict: Verdict | None) -> tuple[Mark, str]:
    if verdict is not None:
        if verdict.is_answer:
            return Mark.READY, "ready, it answered just now"
        return Mark.ABSENT, f"asked just now: {advice_on(verdict.cause, provider.name)}"
    if breaker is not None and breaker.is_resting:
        until = f"{breaker.until:%Y-%m-%d %H:%M} UTC" if breaker.until else "later"
        return Mark.ABSENT, f"is not asked before {until}, {advice_on(breaker.cause, provider.name)}"
    if breaker is not None and breaker.answered_at and breaker.has_answered:
        minutes = (breaker.now - breaker.answered_at) // timedelta(minutes=1)
        return Mark.READY, f"ready, it answered {minutes} min ago"
    charged = ", which its provider charges like any query" if provider.needs_key else ""
    return Mark.ABSENT, f"set up, but it has not answered within the hour; `pressroom doctor --ask` asks it{charged}"
