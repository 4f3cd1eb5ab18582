"""An engine's place within its family, in the family's own order of preference."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("offer", sa.Column("place", sa.Integer(), server_default="0", nullable=False))
