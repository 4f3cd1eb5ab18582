"""What operators see: samples of the queues, when a search provider last answered, and jobs that failed by time.

A process of the release before goes on without writing either; its providers' answers are then asked for anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_index(
        "job_failed_idx",
        "job",
        ["finished_at"],
        postgresql_where=sa.text("state IN ('failed', 'partial', 'expired')"),
    )
    op.create_table(
        "queue_sample",
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("ready", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("leased", sa.Integer(), nullable=False),
        sa.Column("oldest_seconds", sa.Float(), nullable=False),
        sa.Column("done", sa.BigInteger()),
        sa.Column("failed", sa.BigInteger()),
        sa.Column("runs", sa.BigInteger()),
        sa.Column("wait_seconds", sa.Float()),
        sa.Column("run_seconds", sa.Float()),
        sa.PrimaryKeyConstraint("at", "queue"),
    )
    op.add_column("search_provider", sa.Column("answered_at", sa.DateTime(timezone=True)))
