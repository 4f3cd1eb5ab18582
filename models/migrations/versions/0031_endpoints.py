"""Endpoints that operators add in the dashboard; see models/operations.py."""

from alembic import op
from sqlalchemy import Column, DateTime, LargeBinary, String, func
from sqlalchemy.dialects.postgresql import JSONB

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.create_table(
        "endpoint",
        Column("name", String, primary_key=True),
        Column("settings", JSONB, nullable=False),
        Column("sealed_key", LargeBinary),
        Column("updated_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
    )
