"""Changes of all jobs of a filter; see models/operations.py."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "mass_change",
        sa.Column("id", sa.Uuid, server_default=sa.text("gen_random_uuid()"), primary_key=True),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("filter", JSONB, nullable=False),
        *(sa.Column(name, sa.Uuid, nullable=False) for name in ("next_id", "last_id")),
        *(
            sa.Column(name, sa.BigInteger, server_default=sa.text("0"), nullable=False)
            for name in ("looked_at", "changed")
        ),
        sa.Column("refused", JSONB, server_default="{}", nullable=False),
        sa.Column("requested_at", moment, server_default=sa.func.now(), nullable=False),
        *(sa.Column(name, moment) for name in ("taken_until", "finished_at")),
    )
