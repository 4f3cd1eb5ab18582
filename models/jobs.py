"""Jobs: one request each, and their items, the units of work, with their leases."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, Identity, Index, Interval, LargeBinary, String, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from models.columns import BUSY_TABLE, Row, document, moment, one_of, row_rules

#: Open states first; the others are final.
JOB_STATES = ("queued", "running", "succeeded", "partial", "failed", "cancelled", "expired")


class JobRow(Row, table=True):
    """One request. `credits_held` is all that was ever set aside; captured plus released make it up at the end.

    Neither it nor its items and ledger lines have foreign keys (docs/decisions/0010): the life cycle locks and checks
    what they name in the same statement, and `pipeline.accounts.ledger` looks for orphans.
    """

    __table_args__ = (
        row_rules(
            "job",
            {
                "state": "text",
                "finished_at": "timestamptz",
                "items_total": "integer",
                "items_ok": "integer",
                "items_failed": "integer",
                "credits_held": "integer",
                "credits_captured": "integer",
            },
            one_of("state", JOB_STATES),
            "(state IN ('queued', 'running')) = (finished_at IS NULL)",
            "items_ok + items_failed <= items_total",
            "credits_captured BETWEEN 0 AND credits_held",
        ),
        Index("job_account_id_created_at_idx", "account_id", text("created_at DESC")),
        Index("job_request_id_idx", "request_id"),
        Index("job_open_idx", "account_id", postgresql_where=text("finished_at IS NULL")),
        Index("job_deadline_idx", "deadline", postgresql_where=text("finished_at IS NULL")),
        Index(
            "job_expires_at_idx", "expires_at", postgresql_where=text("purged_at IS NULL AND expires_at IS NOT NULL")
        ),
        Index("job_purged_idx", "finished_at", postgresql_where=text("purged_at IS NOT NULL")),
        Index(
            "job_being_deleted_idx",
            "deleted_at",
            postgresql_where=text("deleted_at IS NOT NULL AND purged_at IS NULL"),
        ),
        # For operators' list of failures (pipeline/operations/failures.py).
        # Neither names a column that the first claim changes (`state`, `started_at`), which then writes no index.
        Index(
            "job_ended_badly_idx",
            "finished_at",
            postgresql_where=text("finished_at IS NOT NULL AND (items_failed > 0 OR error IS NOT NULL)"),
        ),
        # For lists of jobs that were not delivered whole; one that succeeds never enters it. It names no column
        # that the first claim changes (`state`, `started_at`), which then writes no index.
        Index(
            "job_undelivered_idx",
            "account_id",
            text("created_at DESC"),
            postgresql_where=text("finished_at IS NOT NULL AND (items_failed > 0 OR error IS NOT NULL)"),
        ),
        # Tells if a submission may overtake anything; nearly always empty.
        Index("job_low_idx", "account_id", postgresql_where=text("finished_at IS NULL AND priority = 'low'")),
        Index(
            "job_idempotency_key_idx",  # not unique: a key may be used again once it is forgotten
            "account_id",
            "route",
            "idempotency_key",
            text("created_at DESC"),
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("job_failed_idx", "account_id", "finished_at", postgresql_where=text("state IN ('failed', 'expired')")),
        Index("job_kept_idx", "account_id", postgresql_where=text("kept_at IS NOT NULL")),
        {"postgresql_with": BUSY_TABLE},
    )

    id: UUID = Field(primary_key=True)
    account_id: UUID
    api_key_id: UUID
    kind: str  # what was asked for: a name in pipeline.registry
    route: str  # the path it was asked at: a kind may have several
    source: str | None
    request: dict[str, Any] = Field(sa_column=document(nullable=False))  # without what its items hold
    request_id: str  # X-Request-Id of the request that made it
    state: str = Field(sa_column_kwargs={"server_default": text("'queued'")})
    items_total: int
    items_ok: int = Field(sa_column_kwargs={"server_default": text("0")})
    items_failed: int = Field(sa_column_kwargs={"server_default": text("0")})
    credits_held: int
    credits_captured: int = Field(sa_column_kwargs={"server_default": text("0")})
    engine: str | None  # the engine of the item that was reported last
    idempotency_key: str | None
    request_hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    keep_for: timedelta = Field(sa_column=Column(Interval, nullable=False))  # results are kept so long after the end
    deadline: datetime = Field(sa_column=moment())
    created_at: datetime = Field(sa_column=moment(now=True))
    started_at: datetime | None = Field(sa_column=moment(nullable=True))  # first claim
    finished_at: datetime | None = Field(sa_column=moment(nullable=True))
    expires_at: datetime | None = Field(sa_column=moment(nullable=True))  # from then on the result is gone
    purged_at: datetime | None = Field(sa_column=moment(nullable=True))  # items and request text were deleted
    deleted_at: datetime | None = Field(sa_column=moment(nullable=True))  # its account deleted request and result
    kept_at: datetime | None = Field(sa_column=moment(nullable=True))  # its account keeps it: it does not expire
    error: dict[str, Any] | None = Field(sa_column=document())
    webhook_url: str | None  # is told of its end
    webhook_events: list[str] | None = Field(sa_column=Column(ARRAY(String)))  # of which ends; null: of all
    priority: str = Field(sa_column_kwargs={"server_default": text("'normal'")})  # low, normal or high


#: waiting: not due. ready: may be claimed. leased: with a worker. The others are final.
ITEM_STATES = ("waiting", "ready", "leased", "done", "failed", "cancelled")

LANE = text("coalesce(lane, kind)")


class ItemRow(Row, table=True):
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
    edited: dict[str, Any] | None = Field(sa_column=document())  # what a reader has made of the output's texts
    created_at: datetime = Field(sa_column=moment(now=True))
    updated_at: datetime = Field(sa_column=moment(now=True))


class EndedJobRow(Row, table=True):
    """A job that its account's `open_items` still has in it; the sweep takes it off within about a second."""

    account_id: UUID = Field(primary_key=True)
    job_id: UUID = Field(primary_key=True)
    kind: str
    items: int
