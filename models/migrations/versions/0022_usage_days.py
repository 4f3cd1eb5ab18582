"""Usage by days, summed from the ledger as it grows, and indexes for the few lines that are looked for.

The sweep sums what is there, a day at a time; until it has, and beside processes of the release before, everything is
read from the ledger, with the same result. The indexes are built at once: writes to the ledger wait
meanwhile, about a second a million lines.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    key = ("account_id", sa.Uuid()), ("day", sa.Date()), ("route", sa.String()), ("api_key_id", sa.Uuid())
    op.create_table(
        "usage_day",
        *(sa.Column(name, type_, nullable=False) for name, type_ in key),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("requests", "credits", "held")),
        sa.PrimaryKeyConstraint(*(name for name, _ in key)),
        postgresql_with={
            "fillfactor": "70",
            "autovacuum_vacuum_scale_factor": "0.01",
            "autovacuum_analyze_scale_factor": "0.02",
        },
    )
    op.create_table(
        "usage_summed",
        sa.Column("id", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("before", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("id = 1", name="usage_summed_id_check"),
    )
    op.execute("INSERT INTO usage_summed DEFAULT VALUES")
    op.create_index(
        "credit_entry_created_at_idx",
        "credit_entry",
        ["created_at"],
        postgresql_using="brin",
        postgresql_with={"pages_per_range": "32", "autosummarize": "on"},
    )
    op.create_index(
        "credit_entry_grant_idx",
        "credit_entry",
        ["account_id", "created_at"],
        postgresql_where=sa.text("entry = 'grant'"),
    )
