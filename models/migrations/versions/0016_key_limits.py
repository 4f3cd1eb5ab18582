"""Limits of single API keys.

Processes of the release before make no keys with limits, and their captures are counted like all others: what a key has
used is always the ledger's sum.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("api_key", sa.Column("requests_per_minute", sa.Integer(), nullable=True))
    op.add_column("api_key", sa.Column("credits_per_month", sa.BigInteger(), nullable=True))
    op.add_column("api_key", sa.Column("routes", ARRAY(sa.Text()), nullable=True))
    op.create_check_constraint("api_key_requests_per_minute_check", "api_key", "requests_per_minute > 0")
    op.create_check_constraint("api_key_credits_per_month_check", "api_key", "credits_per_month >= 0")
    op.create_table(
        "key_spending",
        sa.Column("api_key_id", sa.Uuid(), nullable=False),
        sa.Column("before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["api_key_id"], ["api_key.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("api_key_id"),
    )
