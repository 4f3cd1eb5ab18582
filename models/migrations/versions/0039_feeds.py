"""Posts of watched sites on their way to a search engine, and podcasts of spoken posts; see models/sites.py."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0039"
down_revision = "0038"

MOMENT = sa.DateTime(timezone=True)


def _now(name: str) -> "sa.Column[datetime]":
    return sa.Column(name, MOMENT, nullable=False, server_default=sa.func.now())


def upgrade() -> None:
    op.create_index(
        "site_change_audio_idx",
        "site_change",
        ["run_id"],
        postgresql_where=sa.text("field = 'audio' AND state = 'written'"),
    )
    op.create_table(
        "site_post",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("site_id", sa.Uuid, sa.ForeignKey("site.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("target", "url", "title")),
        sa.Column("runs", JSONB, nullable=False),
        *(sa.Column(name, sa.Uuid) for name in ("submission_id", "monitor_id")),
        _now("seen_at"),
        sa.Column("done_at", MOMENT),
        sa.UniqueConstraint("site_id", "target"),
    )
    op.create_index("site_post_open_idx", "site_post", ["site_id"], postgresql_where=sa.text("done_at IS NULL"))
    op.create_table(
        "site_feed",
        sa.Column("site_id", sa.Uuid, sa.ForeignKey("site.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("token", sa.String, unique=True),
        sa.Column("guid", sa.Uuid, nullable=False),
        sa.Column("options", JSONB, nullable=False),
        _now("created_at"),
    )
    op.create_table(
        "site_episode",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column(
            "change_id", sa.BigInteger, sa.ForeignKey("site_change.id", ondelete="CASCADE"), nullable=False, unique=True
        ),
        sa.Column("audio_bytes", sa.BigInteger),
        sa.Column("cover", sa.String),
        _now("created_at"),
    )
