"""When an account has deleted what a job was asked and delivered."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("job", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
