"""What makes a search provider's empty pages believed, and how often in a row it has evaded an answer."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("search_provider", sa.Column("evasions", sa.Integer(), server_default=sa.text("0"), nullable=False))
    for moment in ("proven_at", "blocked_at", "control_at"):
        op.add_column("search_provider", sa.Column(moment, sa.DateTime(timezone=True)))
    op.add_column("search_provider", sa.Column("shown_by", JSONB()))
