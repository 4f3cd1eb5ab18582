"""Uploads that arrive in several requests."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "upload",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("account_id", sa.Uuid, sa.ForeignKey("account.id", ondelete="CASCADE"), nullable=False),
        sa.Column("length", sa.BigInteger, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("parts", ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("received BETWEEN 0 AND length", name="upload_received_check"),
    )
    op.create_index("upload_account_idx", "upload", ["account_id"])
    op.create_index("upload_expires_at_idx", "upload", ["expires_at"])
