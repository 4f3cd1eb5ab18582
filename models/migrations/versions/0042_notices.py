"""Notices by e-mail, and the balance below which an account's people are told; see models/notices.py."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"

MOMENT = sa.DateTime(timezone=True)


def _now(name: str) -> "sa.Column[datetime]":
    return sa.Column(name, MOMENT, nullable=False, server_default=sa.func.now())


def upgrade() -> None:
    op.create_table(
        "notice_choice",
        *(sa.Column(name, sa.Uuid, primary_key=True) for name in ("account_id", "person_id")),
        sa.Column("event", sa.String, primary_key=True),
        sa.Column("how", sa.String, nullable=False),
        sa.Column("token", sa.Uuid, nullable=False, server_default=sa.text("gen_random_uuid()")),
        _now("told_until"),
        _now("next_at"),
        sa.ForeignKeyConstraint(
            ["account_id", "person_id"], ["membership.account_id", "membership.person_id"], ondelete="CASCADE"
        ),
        sa.CheckConstraint("how IN ('at once', 'daily')", name="notice_choice_how_check"),
    )
    op.create_index("notice_choice_due_idx", "notice_choice", ["next_at"])
    op.create_index("notice_choice_token_key", "notice_choice", ["token"], unique=True)
    op.create_table(
        "mail",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("person_id", sa.Uuid, sa.ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("subject", "body")),
        sa.Column("token", sa.Uuid),
        sa.Column("state", sa.String, nullable=False, server_default=sa.text("'pending'")),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        _now("next_at"),
        sa.Column("error", sa.String),
        _now("created_at"),
        sa.Column("ended_at", MOMENT),
        sa.CheckConstraint("state IN ('pending', 'sent', 'failed')", name="mail_state_check"),
    )
    op.create_index("mail_due_idx", "mail", ["next_at"], postgresql_where=sa.text("state = 'pending'"))
    op.create_index("mail_person_idx", "mail", ["person_id", sa.text("created_at DESC")])
    op.create_index("mail_created_at_idx", "mail", ["created_at"])
    op.add_column("account", sa.Column("low_balance", sa.BigInteger))
    op.add_column("account", sa.Column("low_since", MOMENT))
    watched = sa.text("low_balance IS NOT NULL")
    op.create_index("account_low_balance_idx", "account", ["id"], postgresql_where=watched)
    failed = sa.text("state IN ('failed', 'expired')")
    op.create_index("job_failed_idx", "job", ["account_id", "finished_at"], postgresql_where=failed)
    op.create_index("audit_event_person_idx", "audit_event", ["person_id", "at"])
