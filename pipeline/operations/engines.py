"""Engines: the reports of pools about their engines, for operators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.database import Row, Statement

#: Parts of an offer that are about models.
MODELS = frozenset(("models", "fetchable", "install", "stock"))


@dataclass(frozen=True, slots=True)
class EngineState:
    """An engine as a pool that has set it up, or tried to, has said last."""

    family: str
    engine: str
    place: int
    ready: bool
    needs: str | None
    #: Number of each that it offers, such as 12 voices.
    offers: Mapping[str, int]
    #: Models of the catalogue that it has.
    models: Sequence[str]
    #: Models of the catalogue that would give it more, and are not here.
    missing: Sequence[str]
    #: A note for the operator, although it is ready.
    warning: str
    #: Its models of the catalogue, here or not: model, bytes, gives, licence, is_here, is_removable and fault.
    stock: Sequence[Mapping[str, Any]]
    told_at: datetime


def read_engines() -> Statement[list[EngineState]]:
    """Read the pools' reports about their engines, by family, in order of preference."""
    return Statement(
        "SELECT family, engine, place, ready, needs, content, updated_at FROM offer ORDER BY family, place, engine",
        {},
        lambda rows: [_state(row) for row in rows],
    )


def _state(row: Row) -> EngineState:
    content: Mapping[str, Any] = row["content"]
    return EngineState(
        family=row["family"],
        engine=row["engine"],
        place=row["place"],
        ready=row["ready"],
        needs=row["needs"],
        offers={name: len(one) for name, one in content.items() if name not in MODELS and isinstance(one, list)},
        models=[str(name) for name in content.get("models", ())],
        missing=[str(one["model"]) for one in content.get("fetchable", ())],
        warning=str(content.get("warning", "")),
        stock=content.get("stock", ()),
        told_at=row["updated_at"],
    )
