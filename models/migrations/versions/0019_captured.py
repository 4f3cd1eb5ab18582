"""An index to count what a key was charged.

By itself, as it is built at once: writes to the ledger wait meanwhile, about a second a million lines, and nothing else
does. (Some databases have it: an earlier form of 0016 made it.)
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_index(
        "credit_entry_captured_idx",
        "credit_entry",
        ["api_key_id", "created_at"],
        postgresql_where=sa.text("entry = 'capture'"),
        postgresql_include=["held_change"],
        if_not_exists=True,
    )
