"""The doctor of index checks: asks search providers for a site that each lists, and looks at connected sites.

Providers are asked within their pace, and what comes is noted for all processes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg

from capabilities.index_check.commands.site_connections import list_sites
from capabilities.index_check.engines.search.base.verdict import Verdict
from capabilities.index_check.engines.search.trying import try_providers
from capabilities.index_check.handlers.feedback import event_of
from capabilities.index_check.handlers.unchecked import advice_on
from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import note
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.offers.breakers import Breaker
from pipeline.settings import Settings
from scripts.doctor.finding import Finding, Mark
from scripts.options import PATIENCE

#: A person waits for the answer.
LONGEST_WAIT_SECONDS = 10.0
#: A booking that nobody ends is free again after this time.
BUSY_FOR = timedelta(seconds=2 * LONGEST_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """A provider's answer to the doctor; `cause` says why it was none."""

    is_good: bool
    cause: str


def examine_services(
    engines: Sequence[Any],
    breakers: Mapping[str, Breaker],
    settings: Settings,
    database_url: str | None,
    *,
    ask: bool | None,
) -> dict[str, tuple[Mark, str]]:
    """Return how each search provider among engines that are ready is, by its name; asks those that are to be asked."""
    providers = [engine for engine in engines if hasattr(engine, "pace_name")]
    to_ask = [one for one in providers if _is_to_be_asked(one, breakers.get(one.pace_name), ask=ask)]
    answers = ask_providers(to_ask, settings, database_url)
    return {one.name: _state(one, breakers.get(one.pace_name), answers.get(one.pace_name)) for one in providers}


def examine(settings: Settings, database_url: str | None) -> Iterator[Finding]:
    """Say of each connected site how many requests are left today, or why it can't be asked about."""
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
        yield Finding(f"{one.connection.service}: {one.site}", mark, f"{one.state} ({whose})")


def _may_ask(provider: Any) -> bool:
    """Return whether a question costs nothing."""
    return not getattr(provider, "needs_key", False)


def ask_providers(providers: Sequence[Any], settings: Settings, database_url: str | None) -> Mapping[str, ProbeAnswer]:
    """Ask providers, and let all processes know what came; returns the answers by pace name.

    One that a pool is asking at this moment is left out: its pace allows no other query."""
    search = settings.of(SearchSettings).model_copy(
        update={"limit_seconds": min(settings.of(SearchSettings).limit_seconds, LONGEST_WAIT_SECONDS)}
    )
    if not providers:
        return {}
    if database_url is None:
        return _answers(providers, try_providers(providers, search))
    try:
        with Database(database_url, patience=PATIENCE) as database:
            database.run(pacing.add_providers([one.pace_name for one in providers]))
            free = [
                one for one in providers if database.run(pacing.book(one.pace, alone=one.pace.alone, busy_for=BUSY_FOR))
            ]
            verdicts = try_providers(free, search)
            for one, verdict in zip(free, verdicts, strict=True):
                database.run(
                    note(one.pace_name, event_of(one, verdict), search, reason=verdict.cause, asked_for=verdict.rest)
                )
    except (PressroomError, psycopg.Error):
        return {}
    return _answers(free, verdicts)


def _answers(providers: Sequence[Any], verdicts: Sequence[Verdict]) -> dict[str, ProbeAnswer]:
    return {
        one.pace_name: ProbeAnswer(verdict.is_answer, verdict.cause)
        for one, verdict in zip(providers, verdicts, strict=True)
    }


def _is_to_be_asked(provider: Any, breaker: Breaker | None, *, ask: bool | None) -> bool:
    if ask is False or (breaker is not None and (breaker.is_resting or breaker.has_answered)):
        return False
    return ask or _may_ask(provider)


def _state(provider: Any, breaker: Breaker | None, answer: ProbeAnswer | None) -> tuple[Mark, str]:
    if answer is not None:
        if answer.is_good:
            return Mark.READY, "ready, it answered just now"
        return Mark.ABSENT, f"asked just now: {advice_on(answer.cause, provider.name)}"
    if breaker is not None and breaker.is_resting:
        until = f"{breaker.until:%Y-%m-%d %H:%M} UTC" if breaker.until else "later"
        return Mark.ABSENT, f"is not asked before {until}, {advice_on(breaker.cause, provider.name)}"
    if breaker is not None and breaker.answered_at and breaker.has_answered:
        minutes = (breaker.now - breaker.answered_at) // timedelta(minutes=1)
        return Mark.READY, f"ready, it answered {minutes} min ago"
    charged = "" if _may_ask(provider) else ", which its provider charges like any query"
    return Mark.ABSENT, f"set up, but it has not answered within the hour; `pressroom doctor --ask` asks it{charged}"
