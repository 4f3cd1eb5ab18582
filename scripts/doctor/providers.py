"""Providers: the doctor asks search providers for a site that each lists, within their pace, and notes what came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.circuit_breaker import note
from pipeline.settings import Settings
from scripts.options import PATIENCE
from workers.engines.search.base.verdict import Verdict
from workers.engines.search.trying import try_providers
from workers.handlers.index_check.feedback import event_of

#: A person waits for the answer.
LONGEST_WAIT_SECONDS = 10.0
#: A booking that nobody ends is free again after this time.
BUSY_FOR = timedelta(seconds=2 * LONGEST_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider said just now; `cause` is why it was no answer."""

    is_good: bool
    cause: str


def may_ask(provider: Any) -> bool:
    """Return whether a question costs nothing."""
    return not getattr(provider, "needs_key", False)


def ask_providers(providers: Sequence[Any], settings: Settings, database_url: str | None) -> Mapping[str, Answer]:
    """Ask providers, and let all processes know what came; returns the answers by pace name.

    One that a pool is asking at this moment is left out: its pace allows no other query."""
    search = settings.search.model_copy(
        update={"limit_seconds": min(settings.search.limit_seconds, LONGEST_WAIT_SECONDS)}
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


def _answers(providers: Sequence[Any], verdicts: Sequence[Verdict]) -> dict[str, Answer]:
    return {
        one.pace_name: Answer(verdict.is_answer, verdict.cause)
        for one, verdict in zip(providers, verdicts, strict=True)
    }
