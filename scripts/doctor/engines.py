"""Engines: whether each is ready, as far as that is known by an answer; else it is asked, or the doctor says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.kinds import load_kinds
from pipeline.offers import Offer, read_offers
from pipeline.operations.breakers import Breaker
from pipeline.settings import Settings
from scripts.doctor.finding import Finding, Mark
from scripts.doctor.providers import Answer, ask_providers, may_ask
from scripts.options import PATIENCE
from workers.catalogue.advice import command, wanted
from workers.catalogue.machine import gigabytes
from workers.catalogue.store import ModelStore
from workers.engines.registry import advise, list_families, load_engines


@dataclass(frozen=True)
class Known:
    """What the database knows: what pools have said of their engines, and how the services are that they ask."""

    offers: Mapping[tuple[str, str], Offer] = field(default_factory=dict)
    breakers: Mapping[str, Breaker] = field(default_factory=dict)


def examine_engines(settings: Settings, database_url: str | None, *, ask: bool | None) -> Iterator[Finding]:
    """Look at the engines of all families, and ask the providers that are to be asked, all at once."""
    known = _read(settings, database_url) if database_url else Known()
    loaded: dict[str, Sequence[Any] | PressroomError] = {}
    for family in list_families():
        try:
            loaded[family] = load_engines(settings, family)
        except PressroomError as error:
            loaded[family] = error
    engines = [engine for found in loaded.values() if not isinstance(found, PressroomError) for engine in found]
    to_ask = [one for one in engines if _is_to_be_asked(one, known, ask=ask)]
    answers = ask_providers(to_ask, settings, database_url)
    for family, found in loaded.items():
        if isinstance(found, PressroomError):
            yield Finding(family, Mark.MISSING, found.message)
            continue
        for engine in found:
            yield _finding(family, engine, known, answers)
        for advice in advise(family, found):
            yield Finding(family, Mark.ABSENT, advice)
        yield from _models(settings, family)


def _is_to_be_asked(engine: Any, known: Known, *, ask: bool | None) -> bool:
    if not hasattr(engine, "pace_name") or ask is False or engine.readiness() is not None:
        return False
    breaker = known.breakers.get(engine.pace_name)
    if breaker is not None and (breaker.is_resting or breaker.has_answered):
        return False
    return ask or may_ask(engine)


def _finding(family: str, engine: Any, known: Known, answers: Mapping[str, Answer]) -> Finding:
    subject, promise = f"{family}: {engine.name}", getattr(engine, "promise", "")
    if needs := engine.readiness():
        return Finding(subject, Mark.ABSENT, needs)
    # A pool that has tried knows more: weights that are there may be broken, and a hub out of reach.
    offer = known.offers.get((family, engine.name))
    if offer is not None and offer.needs:
        return Finding(subject, Mark.ABSENT, f"the pool says: {offer.needs}")
    if hasattr(engine, "pace_name"):
        mark, said = _of_provider(engine, known.breakers.get(engine.pace_name), answers.get(engine.pace_name))
    else:
        said = "ready" if offer is not None else "ready to be set up; no pool has done so yet"
        mark = Mark.READY
    return Finding(subject, mark, ", ".join(filter(None, (said, promise if mark is Mark.READY else ""))))


def _of_provider(engine: Any, breaker: Breaker | None, answer: Answer | None) -> tuple[Mark, str]:
    from workers.handlers.index_check.unchecked import advice_on

    if answer is not None:
        said = (
            "ready, it answered just now"
            if answer.is_good
            else f"asked just now: {advice_on(answer.cause, engine.name)}"
        )
        return Mark.READY if answer.is_good else Mark.ABSENT, said
    if breaker is not None and breaker.is_resting:
        until = f"{breaker.until:%Y-%m-%d %H:%M} UTC" if breaker.until else "later"
        return Mark.ABSENT, f"is not asked before {until}, {advice_on(breaker.cause, engine.name)}"
    if breaker is not None and breaker.answered_at and breaker.has_answered:
        minutes = (breaker.now - breaker.answered_at) // timedelta(minutes=1)
        return Mark.READY, f"ready, it answered {minutes} min ago"
    hint = "`pressroom doctor --ask` asks it"
    return Mark.ABSENT, f"set up, but it has not answered within the hour; {hint}" + (
        "" if may_ask(engine) else ", which its provider charges like any query"
    )


def _read(settings: Settings, database_url: str) -> Known:
    """Return what the database knows; nothing if it went away."""
    try:
        with Database(database_url, patience=PATIENCE) as database:
            offers = {(offer.family, offer.engine): offer for offer in database.run(read_offers())}
            statements = [kind.breakers() for kind in load_kinds(settings).values()]
            found = [one for statement in statements if statement for one in database.run(statement)]
    except (PressroomError, psycopg.Error):
        return Known()
    return Known(offers, {one.name: one for one in found})


def _models(settings: Settings, family: str) -> Iterator[Finding]:
    """Say which models of a family this machine would run, and are not here yet."""
    models = wanted(ModelStore(settings), family) if settings.models.download != "never" else ()
    if models:
        size = gigabytes(sum(model.size_bytes for model in models))
        gives = "; ".join(dict.fromkeys(model.gives for model in models))
        yield Finding(f"{family}: models", Mark.ABSENT, f"{command(models)} brings {gives} ({size})")
