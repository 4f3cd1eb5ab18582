"""The lane of an item: what is claimed together, at one pace.

Rows of the release before have none; their lane is their kind. Its workers go on to claim by kind, with their own
indexes, which the next release drops.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

READY = sa.text("state = 'ready'")
LANE = sa.text("coalesce(lane, kind)")


def upgrade() -> None:
    op.add_column("item", sa.Column("lane", sa.String(), nullable=True))
    op.create_index("item_lane_round_idx", "item", [LANE, "round", "id"], postgresql_where=READY)
    op.create_index("item_lane_oldest_idx", "item", [LANE, "created_at", "id"], postgresql_where=READY)
