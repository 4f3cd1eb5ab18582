"""Offers: what the engines of each family can do, published by the pools and read by the API."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from psycopg.types.json import Jsonb

from pipeline.database import Statement, nothing, rows_of
from pipeline.settings import Settings

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Offer:
    """The capabilities of one engine; `needs` says what is missing while it is not ready."""

    family: str
    engine: str
    ready: bool
    needs: str | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    #: The engine's place in its pool's order of preference; the first is 0.
    place: int = 0


@dataclass(frozen=True)
class Offers:
    """The offers of all pools, engines in order of preference."""

    engines: tuple[Offer, ...] = ()
    _made: dict[Callable[["Offers"], Any], Any] = field(default_factory=dict, compare=False, repr=False)

    def of(self, family: str) -> list[Offer]:
        """Return the offers of one family's engines; none before a pool has published any."""
        return [offer for offer in self.engines if offer.family == family]

    def derived(self, make: Callable[["Offers"], Made]) -> Made:
        """Return `make(self)`, such as a family's list of voices, made once for this copy of the offers."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made


def preferred_engines(settings: Settings, family: str) -> list[str]:
    """Return the operator's engines of a family in order of preference (`PRESSROOM_<FAMILY>__ENGINES`).

    An empty list means all of the family, in its own order."""
    named: str | None = getattr(getattr(settings, family, None), "engines", None)
    return [name.strip() for name in (named or "").split(",") if name.strip()]


def order_offers(settings: Settings, offers: Sequence[Offer]) -> Offers:
    """Sort offers by the operator's preference, or else the family's; drop engines that the operator does not name."""
    ordered: list[Offer] = []
    for family in dict.fromkeys(offer.family for offer in offers):
        by_place = sorted((offer for offer in offers if offer.family == family), key=lambda offer: offer.place)
        offered = {offer.engine: offer for offer in by_place}
        preferred = preferred_engines(settings, family) or list(offered)
        ordered += [offered[engine] for engine in preferred if engine in offered]
    return Offers(tuple(ordered))


def publish_offers(offers: Sequence[Offer]) -> Statement[None]:
    """Publish the offers of this process's engines."""
    rows = [asdict(offer) for offer in offers]
    return Statement(
        "INSERT INTO offer (family, engine, ready, needs, place, content, updated_at)"
        " SELECT o.family, o.engine, o.ready, o.needs, o.place, o.content, now() FROM jsonb_to_recordset(%(offers)s)"
        " AS o (family text, engine text, ready boolean, needs text, place integer, content jsonb)"
        " ON CONFLICT (family, engine) DO UPDATE SET ready = excluded.ready, needs = excluded.needs,"
        " place = excluded.place, content = excluded.content, updated_at = excluded.updated_at"
        " RETURNING 1 AS published",
        {"offers": Jsonb(rows)},
        nothing,
    )


def read_offers() -> Statement[list[Offer]]:
    """Read the offers of all pools."""
    return Statement(
        "SELECT family, engine, ready, needs, place, content FROM offer ORDER BY family, engine", {}, rows_of(Offer)
    )


#: An engine that answered within this time is ready; the state of others is unknown.
ANSWER_LASTS = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Breaker:
    """A service as the database knows it. `name` tells keys and addresses of one service apart.

    `now` is the database's time, which all others of it are measured by."""

    name: str
    service: str
    state: str
    is_resting: bool
    until: datetime | None
    reason: str  # in words; empty: it is well
    cause: str  # the code of the reason, with what it leaves open: config:credits

    answered_at: datetime | None
    now: datetime

    @property
    def has_answered(self) -> bool:
        """True if it has answered within ANSWER_LASTS, and so is ready."""
        return self.answered_at is not None and self.now - self.answered_at < ANSWER_LASTS


@dataclass(frozen=True, slots=True)
class Fetchable:
    """A model that could be fetched, and what it would bring: languages (BCP 47), and ids of voices."""

    model: str
    languages: tuple[str, ...] = ()
    voices: tuple[str, ...] = ()
    engine: str = ""
    #: True if a request that it would answer better lets it come.
    on_demand: bool = False

    @property
    def remedy(self) -> str:
        """A sentence on how to get it."""
        return f"Who runs this service can add it: pressroom models fetch {self.model}."


def list_fetchable(offers: Offers, family: str) -> Iterator[Fetchable]:
    """Yield the models that would add to the engines of a family, the preferred engine's first."""
    for offer in offers.of(family):
        for found in offer.content.get("fetchable", ()):
            yield Fetchable(
                found["model"],
                tuple(found.get("languages", ())),
                tuple(found.get("voices", ())),
                offer.engine,
                found.get("on_demand", False),
            )
