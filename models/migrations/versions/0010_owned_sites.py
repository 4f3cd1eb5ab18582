"""What accounts have connected at Search Console and Bing Webmaster Tools."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "site_connection",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("credentials", sa.LargeBinary(), nullable=False),
        sa.Column("fault", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("account_id", "service", "name"),
    )
    op.create_table(
        "owned_site",
        sa.Column("connection_id", sa.Uuid(), nullable=False),
        sa.Column("property", sa.String(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("refusals", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("refused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["connection_id"], ["site_connection.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("connection_id", "property"),
    )
    op.create_index("owned_site_account_idx", "owned_site", ["account_id"])
    op.create_table(
        "site_quota",
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("property", sa.String(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("used", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("rest_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("troubles", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("service", "property"),
    )
