"""Credit entry: one line of the append-only ledger, kept for ever."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Index, text
from sqlmodel import Field, SQLModel

from models.columns import moment, one_of

#: What can happen to credits: given to the account; set aside for a job, at submission and later; taken; given back.
ENTRIES = ("grant", "hold", "raise", "capture", "release")


class CreditEntry(SQLModel, table=True):
    """An account's `available` is the sum of `available_change`, and what its open jobs hold that of `held_change`.

    Route and key stand here too, because the ledger outlives its jobs and is what usage is counted from.
    """

    __tablename__ = "credit_entry"
    __table_args__ = (
        CheckConstraint(one_of("entry", ENTRIES), name="credit_entry_entry_check"),
        Index("credit_entry_account_id_idx", "account_id", "created_at"),
        Index(
            "credit_entry_created_at_idx",  # what is not summed yet (pipeline/usage/usage_days.py); no entry a row
            "created_at",
            postgresql_using="brin",
            postgresql_with={"pages_per_range": "32", "autosummarize": "on"},
        ),
        # What operators gave: a few among millions.
        Index("credit_entry_grant_idx", "account_id", "created_at", postgresql_where=text("entry = 'grant'")),
        Index(
            "credit_entry_captured_idx",  # what a key was charged
            "api_key_id",
            "created_at",
            postgresql_where=text("entry = 'capture'"),
            postgresql_include=["held_change"],
        ),
        # One of each a job but raise: whatever goes wrong above, a job is never charged or refunded twice.
        Index(
            "credit_entry_once_a_job",
            "job_id",
            "entry",
            unique=True,
            postgresql_where=text("job_id IS NOT NULL AND entry <> 'raise'"),
        ),
    )

    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    account_id: UUID
    api_key_id: UUID | None
    job_id: UUID | None
    route: str | None
    entry: str
    available_change: int = Field(sa_column=Column(BigInteger, nullable=False))
    held_change: int = Field(sa_column=Column(BigInteger, nullable=False))
    note: str | None
    created_at: datetime = Field(sa_column=moment(now=True))
