"""The certificates and keys that sign files and receipts."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "mark_identity",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("certificates", sa.LargeBinary, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
