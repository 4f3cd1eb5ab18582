"""Jobs that their accounts keep past expiry, and what readers have made of delivered texts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column("job", sa.Column("kept_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("item", sa.Column("edited", JSONB(none_as_null=True), nullable=True))
    op.create_index("job_kept_idx", "job", ["account_id"], postgresql_where=sa.text("kept_at IS NOT NULL"))
