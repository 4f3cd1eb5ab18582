"""Queue sample: how a queue was at one minute, kept for some days for operators' plots."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, Float
from sqlmodel import Field, SQLModel

from models.columns import moment


class QueueSample(SQLModel, table=True):
    """One row a queue and minute. What is counted is a sum since Redis last had none; null: Redis was away."""

    __tablename__ = "queue_sample"

    at: datetime = Field(sa_column=Column(moment().type, primary_key=True))  # a full minute
    queue: str = Field(primary_key=True)
    ready: int
    waiting: int
    leased: int
    oldest_seconds: float = Field(sa_column=Column(Float, nullable=False))  # age of the oldest that is ready
    done: int | None = Field(sa_column=Column(BigInteger))
    failed: int | None = Field(sa_column=Column(BigInteger))
    runs: int | None = Field(sa_column=Column(BigInteger))  # all that workers were done with, also what is tried again
    wait_seconds: float | None = Field(sa_column=Column(Float))  # of all runs together
    run_seconds: float | None = Field(sa_column=Column(Float))
