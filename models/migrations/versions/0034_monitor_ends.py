"""Monitors that end by themselves once every URL is indexed; processes of the release before let them go on."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column(
        "index_monitor", sa.Column("until_indexed", sa.Boolean(), nullable=False, server_default=sa.text("false"))
    )
    op.add_column("index_monitor", sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True))
