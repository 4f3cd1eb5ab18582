"""Suspended accounts are found without reading all of them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_index("account_suspended_idx", "account", ["id"], postgresql_where=sa.text("suspended_at IS NOT NULL"))
