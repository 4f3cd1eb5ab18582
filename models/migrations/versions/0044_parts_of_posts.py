"""Find the excerpt and cover of an episode's post by the post, not by a look at each run of its site."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    beside = sa.text("state = 'written' AND field IN ('excerpt', 'cover')")
    op.create_index("site_change_beside_idx", "site_change", ["target", "field"], postgresql_where=beside)
