"""Endpoints that operators add in the dashboard, beside those of the file and the environment."""

from alembic import op
from sqlalchemy import Column, DateTime, LargeBinary, String, func
from sqlalchemy.dialects.postgresql import JSONB

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.create_table(
        "endpoint",
        Column("name", String, primary_key=True),
        Column("settings", JSONB, nullable=False),  # all but the key
        Column("sealed_key", LargeBinary),  # pipeline/accounts/secret_box.py
        # Pools try the server anew when it changes.
        Column("updated_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
    )
