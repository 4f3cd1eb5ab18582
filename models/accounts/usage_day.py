"""Usage days: sums of the ledger made before, so that usage is not summed from the first line each time."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, SmallInteger, text
from sqlmodel import Field, SQLModel

from models.columns import BUSY_TABLE, moment


class UsageDay(SQLModel, table=True):
    """What an account used on a day (UTC) at a route by a key, of the lines that are summed: requests by their holds,
    credits by their captures, and what both changed of what is held.

    Only a memo: the ledger has the same lines, and says the same without this row.
    """

    __tablename__ = "usage_day"
    __table_args__ = ({"postgresql_with": BUSY_TABLE},)  # today's rows change each minute

    account_id: UUID = Field(primary_key=True)
    day: date = Field(primary_key=True)
    route: str = Field(primary_key=True)
    api_key_id: UUID = Field(primary_key=True)
    requests: int = Field(sa_column=Column(BigInteger, nullable=False))
    credits: int = Field(sa_column=Column(BigInteger, nullable=False))
    held: int = Field(sa_column=Column(BigInteger, nullable=False))


class UsageSummed(SQLModel, table=True):
    """One row: all lines from before `before` are summed in `usage_day`, and none of those can come any more."""

    __tablename__ = "usage_summed"
    __table_args__ = (CheckConstraint("id = 1", name="usage_summed_id_check"),)

    id: int = Field(sa_column=Column(SmallInteger, primary_key=True, server_default=text("1"), autoincrement=False))
    before: datetime | None = Field(sa_column=moment(nullable=True))  # null: none is
