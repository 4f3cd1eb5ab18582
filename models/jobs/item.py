"""Item: the unit of work inside a job, with its lease."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, Identity, Index, text
from sqlmodel import Field, SQLModel

from models.columns import BUSY_TABLE, document, moment, one_of
from models.row_rules import row_rules

#: waiting: not due. ready: may be claimed. leased: with a worker. The others are final.
ITEM_STATES = ("waiting", "ready", "leased", "done", "failed", "cancelled")

LANE = text("coalesce(lane, kind)")


class Item(SQLModel, table=True):
    """One image, one URL, or the whole request. `captured` is what was earned, never more than `price`."""

    __table_args__ = (
        row_rules(
            "item",
            {
                "state": "text",
                "run_at": "timestamptz",
                "lease_id": "uuid",
                "lease_until": "timestamptz",
                "captured": "integer",
                "price": "integer",
            },
            one_of("state", ITEM_STATES),
            "state <> 'waiting' OR run_at IS NOT NULL",
            "state <> 'leased' OR (lease_id IS NOT NULL AND lease_until IS NOT NULL)",
            "captured BETWEEN 0 AND price",
        ),
        Index("item_job_id_index_key", "job_id", "index", unique=True),
        # A claim reads the first of a lane. `coalesce` goes once no row without a lane is left.
        Index("item_lane_round_idx", LANE, "round", "id", postgresql_where=text("state = 'ready'")),
        Index("item_lane_oldest_idx", LANE, "created_at", "id", postgresql_where=text("state = 'ready'")),
        Index("item_waiting_idx", "run_at", postgresql_where=text("state = 'waiting'")),
        # lease_until is in no index, so that a heartbeat stays a HOT update.
        Index("item_leased_idx", "lease_id", postgresql_where=text("state = 'leased'")),
        {"postgresql_with": BUSY_TABLE},
    )

    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    public_id: UUID = Field(sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    job_id: UUID
    index: int  # place in the request, from 0
    kind: str
    lane: str | None  # what is claimed together, at one pace; None, of a release before: the kind
    round: int = Field(sa_column=Column(BigInteger, nullable=False))  # the turn it takes, for fairness
    state: str = Field(sa_column_kwargs={"server_default": text("'ready'")})
    run_at: datetime | None = Field(sa_column=moment(nullable=True))  # when a waiting item is due
    lease_id: UUID | None  # the claim it is, or last was, out on; a report with another one changes nothing
    lease_until: datetime | None = Field(sa_column=moment(nullable=True))
    attempts: int = Field(sa_column_kwargs={"server_default": text("0")})  # reported retries
    crashes: int = Field(sa_column_kwargs={"server_default": text("0")})  # leases that ran out
    price: int
    captured: int = Field(sa_column_kwargs={"server_default": text("0")})
    progress: dict[str, Any] | None = Field(sa_column=document())  # {"done", "total"} in the kind's unit
    checkpoint: dict[str, Any] | None = Field(sa_column=document())  # where a next attempt goes on
    input: dict[str, Any] = Field(sa_column=document(nullable=False))
    output: dict[str, Any] | None = Field(sa_column=document())
    error: dict[str, Any] | None = Field(sa_column=document())
    created_at: datetime = Field(sa_column=moment(now=True))
    updated_at: datetime = Field(sa_column=moment(now=True))
