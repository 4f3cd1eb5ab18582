"""People beside accounts: the one who signed in to an account becomes its owner.

The release before goes on with keys; its pages sign nobody in from now on, and sessions and links end."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0040"
down_revision = "0039"

MOMENT = sa.DateTime(timezone=True)
ROLES = "role IN ('viewer', 'editor', 'owner')"


def _now(name: str) -> "sa.Column[datetime]":
    return sa.Column(name, MOMENT, nullable=False, server_default=sa.func.now())


def _owned_by(table: str, *, primary_key: bool = False) -> "sa.Column[Any]":
    key = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(f"{table}_id", sa.Uuid, key, nullable=False, primary_key=primary_key)


def upgrade() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()")),
        sa.Column("name", sa.String, nullable=False),
        *(sa.Column(name, sa.String) for name in ("email", "password_hash")),
        _now("created_at"),
        sa.CheckConstraint("email = lower(email)", name="person_email_check"),
    )
    op.create_index("person_email_key", "person", ["email"], unique=True)
    op.create_table(
        "membership",
        *(_owned_by(table, primary_key=True) for table in ("account", "person")),
        sa.Column("role", sa.String, nullable=False),
        _now("created_at"),
        sa.CheckConstraint(ROLES, name="membership_role_check"),
    )
    op.create_index("membership_person_idx", "membership", ["person_id"])
    op.create_table(
        "invitation",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        _owned_by("account"),
        *(sa.Column(name, sa.String, nullable=False) for name in ("email", "role")),
        _now("created_at"),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.CheckConstraint("email = lower(email)", name="invitation_email_check"),
        sa.CheckConstraint(ROLES, name="invitation_role_check"),
    )
    op.create_index("invitation_account_email_key", "invitation", ["account_id", "email"], unique=True)
    _make_audit()
    for table in ("session", "sign_in_link"):
        op.add_column(table, sa.Column("person_id", sa.Uuid, sa.ForeignKey("person.id", ondelete="CASCADE")))
        op.create_index(f"{table}_person_idx", table, ["person_id"])
    op.add_column("api_key", sa.Column("person_id", sa.Uuid))
    op.add_column("api_key", sa.Column("ends_with_person", sa.Boolean, nullable=False, server_default=sa.false()))
    # The new person has the account's id, so that one statement finds both.
    op.execute(
        "INSERT INTO person (id, name, email, password_hash, created_at)"
        " SELECT id, name, email, password_hash, created_at FROM account"
    )
    op.execute(
        "INSERT INTO membership (account_id, person_id, role, created_at) SELECT id, id, 'owner', created_at FROM account"
    )
    op.execute("UPDATE session SET person_id = account_id")
    op.execute("UPDATE sign_in_link SET person_id = account_id")
    op.execute("UPDATE account SET email = NULL, password_hash = NULL WHERE num_nonnulls(email, password_hash) > 0")


def _make_audit() -> None:
    op.create_table(
        "audit_event",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("account_id", sa.Uuid, nullable=False),
        *(sa.Column(name, sa.Uuid) for name in ("person_id", "api_key_id")),
        sa.Column("actor", sa.String, nullable=False),
        _now("at"),
        *(sa.Column(name, sa.String, nullable=False) for name in ("action", "subject")),
        sa.Column("detail", JSONB, nullable=False),
        sa.Column("address", sa.String),
    )
    op.create_index("audit_event_account_idx", "audit_event", ["account_id", "id"])
    op.create_index("audit_event_at_idx", "audit_event", ["at"])
    op.execute("""
        CREATE FUNCTION keep_audit_event() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' AND current_setting('pressroom.audit_retention', true) = 'true' THEN
                RETURN OLD;
            END IF;
            RAISE EXCEPTION 'the audit log is only added to' USING ERRCODE = 'restrict_violation';
        END $$
    """)
    op.execute("""
        CREATE TRIGGER audit_event_stays BEFORE UPDATE OR DELETE ON audit_event FOR EACH ROW
        EXECUTE FUNCTION keep_audit_event()
    """)
    op.execute("""
        CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON audit_event EXECUTE FUNCTION keep_audit_event()
    """)
