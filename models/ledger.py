"""The ledger, kept for ever, and sums of it made before, so that nobody sums it from its first line."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Identity, Index, SmallInteger, Uuid, text
from sqlmodel import Field

from models.columns import BUSY_TABLE, Row, moment, one_of

#: Changes of credits: given to the account; set aside for a job, at submission and later; taken; given back.
ENTRIES = ("grant", "hold", "raise", "capture", "release")


class CreditEntryRow(Row, table=True):
    """An account's `available` is the sum of `available_change`, and what its open jobs hold that of `held_change`.

    Route and key stand here too, because the ledger outlives its jobs and is what usage is counted from.
    """

    __table_args__ = (
        CheckConstraint(one_of("entry", ENTRIES), name="credit_entry_entry_check"),
        Index("credit_entry_account_id_idx", "account_id", "created_at"),
        Index(
            "credit_entry_created_at_idx",  # what is not summed yet (pipeline/usage/usage_days.py); no entry a row
            "created_at",
            postgresql_using="brin",
            postgresql_with={"pages_per_range": "32", "autosummarize": "on"},
        ),
        # For operators' grants: a few lines among millions.
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


class KeySpendingRow(Row, table=True):
    """A key's charges from the start of `before`'s month (UTC) up to `before`, when no more lines can come.

    Only a memo: the ledger has the same lines, and says the same without this row.
    """

    api_key_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("api_key.id", ondelete="CASCADE"), primary_key=True))
    before: datetime = Field(sa_column=moment())
    credits: int = Field(sa_column=Column(BigInteger, nullable=False))


class UsageDayRow(Row, table=True):
    """An account's usage on a day (UTC) at a route by a key, of the summed lines: requests by their holds,
    credits by their captures, and what both changed of what is held.

    Only a memo: the ledger has the same lines, and says the same without this row.
    """

    __table_args__ = ({"postgresql_with": BUSY_TABLE},)  # today's rows change each minute

    account_id: UUID = Field(primary_key=True)
    day: date = Field(primary_key=True)
    route: str = Field(primary_key=True)
    api_key_id: UUID = Field(primary_key=True)
    requests: int = Field(sa_column=Column(BigInteger, nullable=False))
    credits: int = Field(sa_column=Column(BigInteger, nullable=False))
    held: int = Field(sa_column=Column(BigInteger, nullable=False))


class UsageSummedRow(Row, table=True):
    """One row: all lines from before `before` are summed in `usage_day`, and none of those can come any more."""

    __table_args__ = (CheckConstraint("id = 1", name="usage_summed_id_check"),)

    id: int = Field(sa_column=Column(SmallInteger, primary_key=True, server_default=text("1"), autoincrement=False))
    before: datetime | None = Field(sa_column=moment(nullable=True))  # null: none is
