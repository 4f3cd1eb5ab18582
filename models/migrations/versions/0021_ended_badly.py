"""The index of jobs that ended badly, without their state: the first claim of a job changes it, and an update that
changes no column of any index writes no index.

By itself, as it is built at once: writes to jobs wait meanwhile, about a second a million rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_index(
        "job_ended_badly_idx",
        "job",
        ["finished_at"],
        postgresql_where=sa.text("finished_at IS NOT NULL AND (items_failed > 0 OR error IS NOT NULL)"),
    )
    op.drop_index("job_failed_idx", table_name="job")
