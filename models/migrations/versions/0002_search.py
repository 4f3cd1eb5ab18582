"""The state of search providers, and what they said."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "search_provider",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("busy_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("open_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("step", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("probes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("off_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "verdict",
        sa.Column("page", sa.LargeBinary(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("output", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("page", "provider"),
    )
    op.create_index("verdict_checked_at_idx", "verdict", ["checked_at"], unique=False)
