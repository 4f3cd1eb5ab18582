"""Jobs that were not delivered whole, and index jobs, are listed without reading all others.

By itself, as they are built at once: changes of jobs wait meanwhile, about two seconds a million of them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_index(
        "job_undelivered_idx",
        "job",
        ["account_id", sa.text("created_at DESC")],
        postgresql_where=sa.text("finished_at IS NOT NULL AND (items_failed > 0 OR error IS NOT NULL)"),
    )
    op.create_index(
        "job_index_kinds_idx",
        "job",
        ["account_id", sa.text("created_at DESC")],
        postgresql_where=sa.text("kind IN ('index_check', 'index_submit')"),
    )
