"""Signing key: a secret that links to files are signed with, shared by all API processes."""

from datetime import datetime

from sqlalchemy import Column, Integer, LargeBinary
from sqlmodel import Field, SQLModel

from models.columns import moment


class SigningKey(SQLModel, table=True):
    """The newest signs, the others still verify; a link whose key is deleted is dead."""

    __tablename__ = "signing_key"

    id: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    secret: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = Field(sa_column=moment(now=True))
