"""Jobs that were not delivered whole are listed without reading those that were.

By itself, as it is built at once: changes of jobs wait meanwhile, about a second a million of them.
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
