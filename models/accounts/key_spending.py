"""Key spending: a sum made before, so that a key with a monthly limit is not summed from the first each time."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Column, ForeignKey, Uuid
from sqlmodel import Field, SQLModel

from models.columns import moment


class KeySpending(SQLModel, table=True):
    """What a key was charged from the start of `before`'s month (UTC) up to `before`: no line of it can come any more.

    Only a memo: the ledger has the same lines, and says the same without this row.
    """

    __tablename__ = "key_spending"

    api_key_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("api_key.id", ondelete="CASCADE"), primary_key=True))
    before: datetime = Field(sa_column=moment())
    credits: int = Field(sa_column=Column(BigInteger, nullable=False))
