"""Second factors, identities at a provider, and what sessions are told apart by; see models/factors.py."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0041"
down_revision = "0040"

MOMENT = sa.DateTime(timezone=True)


def _person(*, primary_key: bool = False, nullable: bool = False) -> "sa.Column[Any]":
    key = sa.ForeignKey("person.id", ondelete="CASCADE")
    return sa.Column("person_id", sa.Uuid, key, primary_key=primary_key, nullable=nullable)


def _now(name: str) -> "sa.Column[Any]":
    return sa.Column(name, MOMENT, nullable=False, server_default=sa.func.now())


def upgrade() -> None:
    op.create_table(
        "totp",
        _person(primary_key=True),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("confirmed_at", MOMENT),
    )
    op.create_table(
        "passkey",
        sa.Column("id", sa.LargeBinary, primary_key=True),
        _person(),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        _now("created_at"),
        sa.Column("last_used_at", MOMENT),
    )
    op.create_table("recovery_code", sa.Column("hash", sa.LargeBinary, primary_key=True), _person())
    op.create_table(
        "provider_identity",
        *(sa.Column(name, sa.String, primary_key=True) for name in ("issuer", "subject")),
        _person(),
        _now("created_at"),
    )
    op.create_table(
        "sign_in_step",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("purpose", sa.String, nullable=False),
        _person(nullable=True),
        sa.Column("content", JSONB, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
    )
    op.create_index("sign_in_step_expires_at_idx", "sign_in_step", ["expires_at"])
    for table in ("passkey", "recovery_code", "provider_identity", "sign_in_step"):
        op.create_index(f"{table}_person_idx", table, ["person_id"])
    op.add_column("session", _now("proven_at"))
    for name in ("browser", "address"):
        op.add_column("session", sa.Column(name, sa.String))
    op.add_column("account", sa.Column("needs_second_factor", sa.Boolean, nullable=False, server_default=sa.false()))
