"""People: who signs in, in which accounts and roles, who is invited, and what each has done."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, Uuid, text
from sqlmodel import Field

from models.columns import Row, document, moment, one_of

#: Roles, the one that may do least first.
ROLES = ("viewer", "editor", "owner")


def _owned_by(table: str, *, primary_key: bool = False) -> Column[Any]:
    """Return a column for a row of another table, which takes this one along when it goes."""
    return Column(Uuid, ForeignKey(f"{table}.id", ondelete="CASCADE"), primary_key=primary_key, nullable=False)


class PersonRow(Row, table=True):
    """A person who signs in; their row goes with their last account. `password_hash` is argon2id."""

    __table_args__ = (
        Index("person_email_key", "email", unique=True),
        CheckConstraint("email = lower(email)", name="person_email_check"),
    )

    id: UUID = Field(primary_key=True, sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    name: str
    email: str | None
    password_hash: str | None
    created_at: datetime = Field(sa_column=moment(now=True))


class MembershipRow(Row, table=True):
    """A person's role in an account; an account keeps an owner."""

    __table_args__ = (
        Index("membership_person_idx", "person_id"),
        CheckConstraint(one_of("role", ROLES), name="membership_role_check"),
    )

    account_id: UUID = Field(sa_column=_owned_by("account", primary_key=True))
    person_id: UUID = Field(sa_column=_owned_by("person", primary_key=True))
    role: str
    created_at: datetime = Field(sa_column=moment(now=True))


class InvitationRow(Row, table=True):
    """A link with which one person joins an account once; its row is deleted when it is used.

    It goes with its maker's membership; `person_id` is null where the `pressroom` command made it."""

    __table_args__ = (
        Index("invitation_account_email_key", "account_id", "email", unique=True),
        CheckConstraint("email = lower(email)", name="invitation_email_check"),
        CheckConstraint(one_of("role", ROLES), name="invitation_role_check"),
        ForeignKeyConstraint(
            ["account_id", "person_id"],
            ["membership.account_id", "membership.person_id"],
            name="invitation_person_fkey",
            ondelete="CASCADE",
        ),
    )

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    account_id: UUID = Field(sa_column=_owned_by("account"))
    email: str
    role: str
    created_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())
    person_id: UUID | None


class AuditEventRow(Row, table=True):
    """An action of somebody in an account; a trigger refuses changes, and lets only old rows go.

    `actor` is their e-mail, name or key as it was then: the row outlives them, so it has no foreign keys."""

    __table_args__ = (
        Index("audit_event_account_idx", "account_id", "id"),
        Index("audit_event_at_idx", "at"),
        Index("audit_event_person_idx", "person_id", "at"),
    )

    id: UUID = Field(primary_key=True)  # version 7: in the order of time
    account_id: UUID
    person_id: UUID | None
    api_key_id: UUID | None
    actor: str
    at: datetime = Field(sa_column=moment(now=True))
    action: str
    subject: str
    detail: dict[str, Any] = Field(sa_column=document(nullable=False))
    address: str | None
