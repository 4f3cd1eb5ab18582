"""Counts of index jobs from indexes alone."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_index("item_indexed_idx", "item", ["job_id"], postgresql_where=sa.text("output->>'reason' = 'indexed'"))
    op.create_index(
        "item_rate_limited_idx",
        "item",
        ["job_id"],
        postgresql_where=sa.text("state = 'failed' AND error->>'reason' = 'rate_limited'"),
    )
