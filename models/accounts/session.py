"""Session and sign-in link: who is signed in at the dashboard; tokens are kept as their SHA-256 alone."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Column, Index, LargeBinary
from sqlmodel import Field, SQLModel

from models.columns import moment


class Session(SQLModel, table=True):
    """A browser that somebody has signed in with; it ends at `expires_at`, or sooner when it is not used."""

    __table_args__ = (Index("session_account_idx", "account_id"), Index("session_expires_at_idx", "expires_at"))

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    account_id: UUID = Field(foreign_key="account.id")
    created_at: datetime = Field(sa_column=moment(now=True))
    last_seen_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())


class SignInLink(SQLModel, table=True):
    """A link that signs in once; its row is deleted when it is used."""

    __tablename__ = "sign_in_link"
    __table_args__ = (Index("sign_in_link_account_idx", "account_id"),)

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    account_id: UUID = Field(foreign_key="account.id")
    created_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())
