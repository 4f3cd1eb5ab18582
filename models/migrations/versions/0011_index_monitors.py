"""URLs that are checked again and again, and webhooks that tell of what has changed."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0011"
down_revision = "0010"


def moment(name: str, *, now: bool = False, nullable: bool = False) -> "sa.Column[datetime]":
    default = sa.text("now()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "webhook",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        moment("created_at", now=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("state", sa.String(), server_default=sa.text("'pending'"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        moment("next_at", now=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        moment("created_at", now=True),
        moment("ended_at", nullable=True),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="webhook_delivery_state_check"),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "webhook_delivery_due_idx", "webhook_delivery", ["next_at"], postgresql_where=sa.text("state = 'pending'")
    )
    op.create_index("webhook_delivery_webhook_idx", "webhook_delivery", ["webhook_id", "created_at"])
    op.create_index("webhook_delivery_created_at_idx", "webhook_delivery", ["created_at"])
    op.create_table(
        "index_monitor",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("api_key_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("every", sa.String(), nullable=False),
        sa.Column("state", sa.String(), server_default=sa.text("'active'"), nullable=False),
        sa.Column("request", JSONB(), nullable=False),
        sa.Column("urls", JSONB(), nullable=True),
        sa.Column("sitemap_url", sa.String(), nullable=True),
        sa.Column("total_urls", sa.Integer(), nullable=True),
        sa.Column("webhook_id", sa.Uuid(), nullable=True),
        moment("next_at", now=True),
        moment("busy_until", nullable=True),
        sa.Column("open_job_id", sa.Uuid(), nullable=True),
        sa.Column("last_job_id", sa.Uuid(), nullable=True),
        moment("last_run_at", nullable=True),
        sa.Column("skipped", JSONB(), nullable=True),
        moment("created_at", now=True),
        sa.CheckConstraint("every IN ('day', 'week')", name="index_monitor_every_check"),
        sa.CheckConstraint("state IN ('active', 'paused')", name="index_monitor_state_check"),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"]),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("index_monitor_account_idx", "index_monitor", ["account_id", "created_at"])
    op.create_index("index_monitor_due_idx", "index_monitor", ["next_at"], postgresql_where=sa.text("state = 'active'"))
    op.create_index(
        "index_monitor_open_idx",
        "index_monitor",
        ["open_job_id"],
        postgresql_where=sa.text("open_job_id IS NOT NULL"),
    )
    op.create_table(
        "index_monitor_page",
        sa.Column("monitor_id", sa.Uuid(), nullable=False),
        sa.Column("page", sa.LargeBinary(), nullable=False),
        sa.Column("index", sa.String(), nullable=False),
        sa.Column("is_indexed", sa.Boolean(), nullable=False),
        moment("checked_at"),
        sa.ForeignKeyConstraint(["monitor_id"], ["index_monitor.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("monitor_id", "page", "index"),
    )
    op.create_index("index_monitor_page_checked_at_idx", "index_monitor_page", ["checked_at"])
    op.create_table(
        "index_monitor_change",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("monitor_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("change", sa.String(), nullable=False),
        sa.Column("index", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("proof_url", sa.String(), nullable=True),
        moment("checked_at"),
        moment("before_at"),
        sa.CheckConstraint("change IN ('newly_indexed', 'dropped')", name="index_monitor_change_change_check"),
        sa.ForeignKeyConstraint(["monitor_id"], ["index_monitor.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("index_monitor_change_monitor_idx", "index_monitor_change", ["monitor_id", "id"])
    op.create_index("index_monitor_change_checked_at_idx", "index_monitor_change", ["checked_at"])
