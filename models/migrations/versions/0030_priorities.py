"""Priorities of keys and jobs, and an index of open jobs of low priority.

By itself, as the index is built at once: writes to jobs wait meanwhile, about a second a million rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    for table in ("job", "api_key"):
        op.add_column(table, sa.Column("priority", sa.String, server_default="normal", nullable=False))
    op.create_check_constraint("api_key_priority_check", "api_key", "priority IN ('low', 'normal', 'high')")
    op.create_index(
        "job_low_idx",
        "job",
        ["account_id"],
        postgresql_where=sa.text("finished_at IS NULL AND priority = 'low'"),
    )
