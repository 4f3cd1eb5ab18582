"""Webhooks of jobs and of accounts: where the end of a job is told, and a log of what was sent."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("account", sa.Column("webhook_id", sa.Uuid(), nullable=True))
    op.add_column("job", sa.Column("webhook_url", sa.String(), nullable=True))
    op.add_column("job", sa.Column("webhook_events", ARRAY(sa.String()), nullable=True))
    op.alter_column("webhook", "url", nullable=True)
    op.add_column("webhook", sa.Column("events", ARRAY(sa.String()), nullable=True))
    op.add_column("webhook", _moment("secret_at", default=sa.text("now()"), nullable=False))
    op.add_column("webhook", sa.Column("previous_secret", sa.String(), nullable=True))
    op.add_column("webhook", _moment("previous_until"))
    # Processes of the release before join the webhook, and so leave alone what has none.
    op.alter_column("webhook_delivery", "webhook_id", nullable=True)
    for name in ("account_id", "job_id"):
        op.add_column("webhook_delivery", sa.Column(name, sa.Uuid(), nullable=True))
    for name in ("url", "event"):
        op.add_column("webhook_delivery", sa.Column(name, sa.String(), nullable=True))
    op.add_column(
        "webhook_delivery", sa.Column("attempts_before", sa.Integer(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column("webhook_delivery", sa.Column("tries", JSONB(), nullable=True))
    op.add_column("webhook_delivery", _moment("busy_until"))
    op.add_column("webhook_delivery", _moment("again_at"))
    op.execute("UPDATE webhook_delivery d SET account_id = w.account_id FROM webhook w WHERE w.id = d.webhook_id")
    _create_indexes()
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text("utf-8"))


def _create_indexes() -> None:
    pending = sa.text("state = 'pending'")
    payer = sa.text("coalesce(account_id, webhook_id)")
    op.create_index("webhook_delivery_payer_idx", "webhook_delivery", [payer, "next_at"], postgresql_where=pending)
    for name, columns in {"busy": ["busy_until"], "job": ["job_id"]}.items():
        condition = sa.text(f"{columns[0]} IS NOT NULL")
        op.create_index(f"webhook_delivery_{name}_idx", "webhook_delivery", columns, postgresql_where=condition)
    op.create_index("webhook_delivery_account_idx", "webhook_delivery", ["account_id", sa.text("created_at DESC")])


def _moment(name: str, *, default: sa.TextClause | None = None, nullable: bool = True) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)
