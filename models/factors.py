"""Factors: how people prove who they are beside their password, and sign-ins that are not finished."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, Uuid
from sqlmodel import Field

from models.columns import Row, document, moment


def _person(*, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    return Column(Uuid, ForeignKey("person.id", ondelete="CASCADE"), primary_key=primary_key, nullable=nullable)


class TotpRow(Row, table=True):
    """A person's authenticator app; it counts once a code has confirmed it.

    `secret` is encrypted (`pipeline.accounts.secret_box`). No code of `last_step` or an earlier time step is taken."""

    person_id: UUID = Field(sa_column=_person(primary_key=True))
    secret: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    last_step: int = Field(sa_column=Column(BigInteger, nullable=False, server_default="0"))
    confirmed_at: datetime | None = Field(sa_column=moment(nullable=True))


class PasskeyRow(Row, table=True):
    """A WebAuthn credential; `id` is the authenticator's name for it, `public_key` in COSE."""

    __table_args__ = (Index("passkey_person_idx", "person_id"),)

    id: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    person_id: UUID = Field(sa_column=_person())
    name: str
    public_key: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    sign_count: int = Field(sa_column=Column(BigInteger, nullable=False))
    created_at: datetime = Field(sa_column=moment(now=True))
    last_used_at: datetime | None = Field(sa_column=moment(nullable=True))


class RecoveryCodeRow(Row, table=True):
    """A code that stands in for a lost factor; its row is deleted when it is used."""

    __table_args__ = (Index("recovery_code_person_idx", "person_id"),)

    hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    person_id: UUID = Field(sa_column=_person())


class ProviderIdentityRow(Row, table=True):
    """Whom an OpenID provider knows under a subject; its e-mail identifies nobody and is not kept."""

    __table_args__ = (Index("provider_identity_person_idx", "person_id"),)

    issuer: str = Field(primary_key=True)
    subject: str = Field(primary_key=True)
    person_id: UUID = Field(sa_column=_person())
    created_at: datetime = Field(sa_column=moment(now=True))


class SignInStepRow(Row, table=True):
    """Something that a browser has begun and not finished, such as a sign-in that lacks its second step."""

    __table_args__ = (Index("sign_in_step_expires_at_idx", "expires_at"), Index("sign_in_step_person_idx", "person_id"))

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    purpose: str
    person_id: UUID | None = Field(sa_column=_person(nullable=True))
    content: dict[str, Any] = Field(sa_column=document(nullable=False))
    expires_at: datetime = Field(sa_column=moment())
