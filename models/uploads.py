"""Uploads: files that arrive in several requests, before there is a job that uses them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from models.columns import Row, moment


class UploadRow(Row, table=True):
    """A resumable upload. The job that uses it has its id, so that one upload makes one job."""

    __table_args__ = (
        Index("upload_account_idx", "account_id"),
        Index("upload_expires_at_idx", "expires_at"),
        CheckConstraint("received BETWEEN 0 AND length", name="upload_received_check"),
    )

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id", ondelete="CASCADE")
    length: int = Field(sa_column=Column(BigInteger, nullable=False))  # bytes in all, as announced
    received: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    parts: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'")))  # in order
    name: str  # of the file, as its sender calls it; may be empty
    created_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())  # moved on by each part that arrives
