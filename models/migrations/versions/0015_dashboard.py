"""Who may sign in at the dashboard, who is signed in, and which accounts are operators or suspended."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def moment(name: str, *, now: bool = False, nullable: bool = False) -> "sa.Column[datetime]":
    default = sa.text("now()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)


def upgrade() -> None:
    op.add_column("account", sa.Column("email", sa.String(), nullable=True))
    op.add_column("account", sa.Column("password_hash", sa.String(), nullable=True))
    op.add_column("account", sa.Column("is_operator", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("account", moment("suspended_at", nullable=True))
    op.create_check_constraint("account_email_check", "account", "email = lower(email)")
    op.create_index("account_email_key", "account", ["email"], unique=True)
    op.add_column("api_key", sa.Column("is_dashboard", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_index(
        "api_key_dashboard_key", "api_key", ["account_id"], unique=True, postgresql_where=sa.text("is_dashboard")
    )
    op.create_table(
        "session",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        moment("created_at", now=True),
        moment("last_seen_at", now=True),
        moment("expires_at"),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("session_account_idx", "session", ["account_id"])
    op.create_index("session_expires_at_idx", "session", ["expires_at"])
    op.create_table(
        "sign_in_link",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        moment("created_at", now=True),
        moment("expires_at"),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("sign_in_link_account_idx", "sign_in_link", ["account_id"])
