"""Find the excerpt and the cover of a spoken post by the post, not by each run of its site."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.create_index(
        "site_change_part_idx",
        "site_change",
        ["target", "field"],
        postgresql_where=sa.text("field IN ('excerpt', 'cover') AND state = 'written'"),
    )
