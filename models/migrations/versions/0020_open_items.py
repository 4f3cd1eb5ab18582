"""Counters of what an account has open, and the end of what only the release before 0005 used.

Processes of the release before neither count up nor down; an account counts from nought once it has no open job (the
life cycle's `uncount`), and anew before it is refused anything.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("account", sa.Column("open_items", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column(
        "account", sa.Column("open_by_kind", JSONB(none_as_null=True), server_default=sa.text("'{}'"), nullable=False)
    )
    op.create_table(
        "ended_job",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "job_id"),
    )
    op.execute("""
        UPDATE account a SET open_items = o.items, open_by_kind = o.by_kind
        FROM (SELECT k.account_id, sum(k.items) AS items, jsonb_object_agg(k.kind, k.items) AS by_kind
              FROM (SELECT j.account_id, j.kind, sum(j.items_total) AS items
                    FROM job j WHERE j.finished_at IS NULL GROUP BY j.account_id, j.kind) k
              GROUP BY k.account_id) o
        WHERE a.id = o.account_id
    """)
    op.drop_index("item_ready_round_idx", table_name="item")
    op.drop_index("item_ready_oldest_idx", table_name="item")
