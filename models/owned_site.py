"""Owned sites: what accounts have connected at Search Console and Bing Webmaster Tools."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, UniqueConstraint, Uuid, text
from sqlmodel import Field, SQLModel

from models.columns import moment


class SiteConnection(SQLModel, table=True):
    """An account's access to a service for site owners (capabilities/index_check/sites/connections.py)."""

    __tablename__ = "site_connection"
    __table_args__ = (UniqueConstraint("account_id", "service", "name"),)

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    service: str  # search_console or bing_webmaster
    name: str  # whose access it is: a service account's address, say; no secret
    credentials: bytes = Field(
        sa_column=Column(LargeBinary, nullable=False)
    )  # encrypted (pipeline/accounts/secret_box.py)
    fault: str | None  # why it can't be used until it is connected anew; null: it can
    created_at: datetime = Field(sa_column=moment(now=True))


class OwnedSite(SQLModel, table=True):
    """A site, or property, that a connection has access to."""

    __tablename__ = "owned_site"
    __table_args__ = (Index("owned_site_account_idx", "account_id"),)

    connection_id: UUID = Field(
        sa_column=Column(Uuid, ForeignKey("site_connection.id", ondelete="CASCADE"), primary_key=True)
    )
    property: str = Field(primary_key=True)  # as the service writes it: https://example.org/, sc-domain:example.org
    account_id: UUID = Field(sa_column=Column(Uuid, nullable=False))  # the connection's, for one look at submission
    #: The service has refused this connection, not others: so often in a row, until when it is left alone, and why.
    refusals: int = Field(sa_column_kwargs={"server_default": text("0")})
    refused_until: datetime | None = Field(sa_column=moment(nullable=True))
    reason: str | None


class SiteQuota(SQLModel, table=True):
    """What a service still answers about a site today, whoever asks: its pace and quota, for all processes."""

    __tablename__ = "site_quota"

    service: str = Field(primary_key=True)
    property: str = Field(primary_key=True)
    next_at: datetime = Field(sa_column=moment(now=True))  # earliest time of the next request
    day: date | None  # the service's day that `used` counts
    used: int = Field(sa_column_kwargs={"server_default": text("0")})
    rest_until: datetime | None = Field(sa_column=moment(nullable=True))  # nobody asks before
    reason: str | None  # why it rests
    troubles: int = Field(sa_column_kwargs={"server_default": text("0")})  # without an answer, in a row
