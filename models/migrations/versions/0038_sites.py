"""Sites where accounts publish, with what was proposed and written there; see models/sites.py."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0038"
down_revision = "0037"

MOMENT = sa.DateTime(timezone=True)
WORKING = "'finding', 'proposing', 'writing', 'undoing'"
CHANGES = "'found', 'proposed', 'accepted', 'writing', 'written', 'undone', 'skipped', 'conflict', 'gone', 'failed'"


def _now(name: str) -> "sa.Column[datetime]":
    return sa.Column(name, MOMENT, nullable=False, server_default=sa.func.now())


def upgrade() -> None:
    op.create_table(
        "site",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("account.id"), nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("name", "connector", "url")),
        sa.Column("credentials", sa.LargeBinary),
        sa.Column("facts", JSONB, nullable=False),
        *(sa.Column(name, JSONB) for name in ("watch", "watched")),
        sa.Column("watch_at", MOMENT),
        _now("created_at"),
        sa.UniqueConstraint("account_id", "name"),
    )
    op.create_table(
        "site_run",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("site_id", sa.Uuid, sa.ForeignKey("site.id", ondelete="CASCADE"), nullable=False),
        sa.Column("task", sa.String, nullable=False),
        sa.Column("options", JSONB, nullable=False),
        sa.Column("state", sa.String, nullable=False, server_default="finding"),
        sa.Column("fault", sa.String),
        _now("due_at"),
        _now("created_at"),
        sa.Column("finished_at", MOMENT),
        sa.CheckConstraint(f"state IN ({WORKING}, 'review', 'done', 'undone')", name="site_run_state_check"),
    )
    op.create_index("site_run_site_idx", "site_run", ["site_id", "created_at"])
    op.create_index(
        "site_run_open_idx",
        "site_run",
        ["site_id", "task"],
        unique=True,
        postgresql_where=sa.text("state IN ('finding', 'proposing', 'review', 'writing')"),
    )
    op.create_index(
        "site_run_due_idx",
        "site_run",
        ["due_at"],
        postgresql_where=sa.text(f"fault IS NULL AND state IN ({WORKING})"),
    )
    op.create_table(
        "site_change",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("run_id", sa.Uuid, sa.ForeignKey("site_run.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("target", "field")),
        sa.Column("about", JSONB, nullable=False),
        sa.Column("state", sa.String, nullable=False, server_default="found"),
        sa.Column("job_id", sa.Uuid),
        sa.Column("job_index", sa.Integer),
        sa.Column("confidence", sa.Float),
        sa.Column("draft", sa.Boolean, nullable=False, server_default=sa.text("false")),
        *(sa.Column(name, JSONB) for name in ("before", "proposed", "written")),
        sa.Column("note", sa.String),
        _now("updated_at"),
        sa.UniqueConstraint("run_id", "target", "field"),
        sa.CheckConstraint(f"state IN ({CHANGES})", name="site_change_state_check"),
    )
    op.create_index(
        "site_change_job_idx",
        "site_change",
        ["job_id"],
        postgresql_where=sa.text("state = 'found' AND job_id IS NOT NULL"),
    )
