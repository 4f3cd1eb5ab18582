"""Leases: items are claimed, kept by heartbeats, and their holds raised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.identifiers import machine, uuid7
from pipeline.lifecycle.schema import call


@dataclass(frozen=True, slots=True)
class ClaimedItem:
    """An item on a lease. `waited` counts from the submission."""

    lease_id: UUID
    item_id: int
    job_id: UUID
    account_id: UUID
    kind: str
    lane: str
    index: int
    input: dict[str, Any]
    price: int
    captured: int
    attempts: int
    crashes: int
    checkpoint: dict[str, Any] | None
    request_id: str
    waited: timedelta


def claim(
    limits: Mapping[str, int],
    *,
    lease_for: timedelta,
    alone: bool = True,
    oldest: bool = False,
    together: Sequence[str] = (),
    queue: str | None = None,
    owners: Mapping[str, str | None] | None = None,
) -> Statement[list[ClaimedItem]]:
    """Lease the next items of one lane; `limits` names the lanes that the caller can serve, and how many of each.

    `alone`: the caller holds nothing else, so an item that has crashed a worker may come, by itself. `oldest`: in the
    order of creation, then of id, whatever the round; otherwise by round, then id. `together`: lanes whose items come
    together even after they were lost with their worker. `queue` and `owners`: what an operator
    may have paused; `owners` gives each lane its only kind, or None if several kinds share it."""
    lease_id = uuid7(tail=machine())  # so that the sweep can tell which machine was lost
    return call(
        "claim",
        {
            "lanes": list(limits),
            "limits": list(limits.values()),
            "lease": lease_id,
            "lease_for": lease_for,
            "alone": alone,
            "oldest": oldest,
            "together": list(together),
            "queue": queue,
            "owners": [lane if owners is None else owners.get(lane) for lane in limits],
        },
        lambda rows: sorted((ClaimedItem(lease_id=lease_id, **row) for row in rows), key=attrgetter("item_id")),
    )


def has_crashed_ready(lanes: Sequence[str]) -> Statement[bool]:
    """Tell whether an item that has crashed a worker is ready. It was claimed before, so it is among the oldest."""
    return Statement(
        "SELECT EXISTS (SELECT FROM unnest(%(lanes)s::text[]) l CROSS JOIN LATERAL (SELECT i.crashes FROM item i"
        " WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = l ORDER BY i.created_at, i.id LIMIT 100) head"
        " WHERE head.crashes > 0) AS found",
        {"lanes": list(lanes)},
        lambda rows: bool(rows[0]["found"]),
    )


@dataclass(frozen=True, slots=True)
class Beat:
    """An item's part of a heartbeat: its progress, credits earned so far, and where a next attempt resumes."""

    lease_id: UUID
    item_id: int
    progress: Mapping[str, Any] | None = None
    credits: int | None = None
    checkpoint: Mapping[str, Any] | None = None


def heartbeat(beats: Sequence[Beat], *, lease_for: timedelta) -> Statement[set[int]]:
    """Renew leases; return the items still held. The others were cancelled, expired or lost."""
    rows = [
        {
            "lease": str(beat.lease_id),
            "item": beat.item_id,
            "progress": beat.progress,
            "credits": beat.credits,
            "checkpoint": beat.checkpoint,
        }
        for beat in beats
    ]
    return call(
        "heartbeat", {"beats": Jsonb(rows), "lease_for": lease_for}, lambda found: {row["heartbeat"] for row in found}
    )


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of raise_hold: `raised`, `insufficient` or `key_limit` (nothing changed), or `lost` (no longer the
    caller's). `available` is the account's balance; of `key_limit`, what the key has left of its month's credits."""

    outcome: Literal["raised", "insufficient", "key_limit", "lost"]
    available: int | None


def raise_hold(lease_id: UUID, item_id: int, credits: int) -> Statement[Raised]:
    """Set aside `credits` in all for an item, once its real price is known."""
    return call("raise_hold", {"lease": lease_id, "item": item_id, "credits": credits}, lambda rows: Raised(**rows[0]))
