"""Ended job: what one that has ended had open, until its account's counters are told."""

from uuid import UUID

from sqlmodel import Field, SQLModel


class EndedJob(SQLModel, table=True):
    """A job that its account's `open_items` still has in it; the sweep takes it off within about a second."""

    __tablename__ = "ended_job"

    account_id: UUID = Field(primary_key=True)
    job_id: UUID = Field(primary_key=True)
    kind: str
    items: int
