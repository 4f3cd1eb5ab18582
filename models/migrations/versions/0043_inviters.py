"""Keep who made an invitation: it ends with their membership."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.add_column("invitation", sa.Column("person_id", sa.Uuid))
    op.create_foreign_key(
        "invitation_person_fkey",
        "invitation",
        "membership",
        ["account_id", "person_id"],
        ["account_id", "person_id"],
        ondelete="CASCADE",
    )
