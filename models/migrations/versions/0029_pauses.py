"""The pauses that operators make; see models/operations.py."""

from alembic import op
from sqlalchemy import CheckConstraint, Column, DateTime, String, func

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "pause",
        Column("scope", String, primary_key=True),
        Column("name", String, primary_key=True),
        Column("paused_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
        Column("reason", String),
        CheckConstraint("scope IN ('queue', 'kind', 'provider', 'account')", name="pause_scope_check"),
    )
