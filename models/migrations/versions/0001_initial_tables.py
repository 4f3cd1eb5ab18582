"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("tier", sa.String(), nullable=False),
        sa.Column("available", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("tier IN ('free', 'pro', 'enterprise')", name="account_tier_check"),
        sa.CheckConstraint("available >= 0", name="account_available_check"),
        sa.PrimaryKeyConstraint("id"),
        postgresql_with={
            "fillfactor": "70",
            "autovacuum_vacuum_scale_factor": "0.01",
            "autovacuum_analyze_scale_factor": "0.02",
        },
    )
    op.create_table(
        "offer",
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("needs", sa.String(), nullable=True),
        sa.Column("content", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("family", "engine"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("hint", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["account.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("api_key_account_id_idx", "api_key", ["account_id"], unique=False)
    op.create_index("api_key_hash_key", "api_key", ["hash"], unique=True)
    op.create_table(
        "credit_entry",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("api_key_id", sa.Uuid(), nullable=True),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("route", sa.String(), nullable=True),
        sa.Column("entry", sa.String(), nullable=False),
        sa.Column("available_change", sa.BigInteger(), nullable=False),
        sa.Column("held_change", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "entry IN ('grant', 'hold', 'raise', 'capture', 'release')", name="credit_entry_entry_check"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("credit_entry_account_id_idx", "credit_entry", ["account_id", "created_at"], unique=False)
    op.create_index(
        "credit_entry_once_a_job",
        "credit_entry",
        ["job_id", "entry"],
        unique=True,
        postgresql_where=sa.text("job_id IS NOT NULL AND entry <> 'raise'"),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("api_key_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("request", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), server_default=sa.text("'queued'"), nullable=False),
        sa.Column("items_total", sa.Integer(), nullable=False),
        sa.Column("items_ok", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("items_failed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("credits_held", sa.Integer(), nullable=False),
        sa.Column("credits_captured", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("engine", sa.String(), nullable=True),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("request_hash", sa.LargeBinary(), nullable=False),
        sa.Column("keep_for", sa.Interval(), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("purged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.CheckConstraint("(state IN ('queued', 'running')) = (finished_at IS NULL)", name="job_finished_check"),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'expired')",
            name="job_state_check",
        ),
        sa.CheckConstraint("credits_captured BETWEEN 0 AND credits_held", name="job_credits_check"),
        sa.CheckConstraint("items_ok + items_failed <= items_total", name="job_items_check"),
        sa.PrimaryKeyConstraint("id"),
        postgresql_with={
            "fillfactor": "70",
            "autovacuum_vacuum_scale_factor": "0.01",
            "autovacuum_analyze_scale_factor": "0.02",
        },
    )
    op.create_index(
        "job_account_id_created_at_idx", "job", ["account_id", sa.literal_column("created_at DESC")], unique=False
    )
    op.create_index(
        "job_deadline_idx", "job", ["deadline"], unique=False, postgresql_where=sa.text("finished_at IS NULL")
    )
    op.create_index(
        "job_expires_at_idx",
        "job",
        ["expires_at"],
        unique=False,
        postgresql_where=sa.text("purged_at IS NULL AND expires_at IS NOT NULL"),
    )
    op.create_index(
        "job_idempotency_key_idx",
        "job",
        ["account_id", "route", "idempotency_key", sa.literal_column("created_at DESC")],
        unique=False,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index(
        "job_purged_idx", "job", ["finished_at"], unique=False, postgresql_where=sa.text("purged_at IS NOT NULL")
    )
    op.create_index(
        "job_open_idx", "job", ["account_id"], unique=False, postgresql_where=sa.text("finished_at IS NULL")
    )
    op.create_index("job_request_id_idx", "job", ["request_id"], unique=False)
    op.create_table(
        "item",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("public_id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), server_default=sa.text("'ready'"), nullable=False),
        sa.Column("run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("crashes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("price", sa.Integer(), nullable=False),
        sa.Column("captured", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("progress", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("checkpoint", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("input", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("output", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("error", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "state <> 'leased' OR (lease_id IS NOT NULL AND lease_until IS NOT NULL)", name="item_leased_check"
        ),
        sa.CheckConstraint("state <> 'waiting' OR run_at IS NOT NULL", name="item_waiting_check"),
        sa.CheckConstraint(
            "state IN ('waiting', 'ready', 'leased', 'done', 'failed', 'cancelled')", name="item_state_check"
        ),
        sa.CheckConstraint("captured BETWEEN 0 AND price", name="item_captured_check"),
        sa.PrimaryKeyConstraint("id"),
        postgresql_with={
            "fillfactor": "70",
            "autovacuum_vacuum_scale_factor": "0.01",
            "autovacuum_analyze_scale_factor": "0.02",
        },
    )
    op.create_index("item_job_id_index_key", "item", ["job_id", "index"], unique=True)
    op.create_index("item_leased_idx", "item", ["lease_id"], unique=False, postgresql_where=sa.text("state = 'leased'"))
    op.create_index(
        "item_ready_oldest_idx",
        "item",
        ["kind", "created_at", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index(
        "item_ready_round_idx",
        "item",
        ["kind", "round", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index("item_waiting_idx", "item", ["run_at"], unique=False, postgresql_where=sa.text("state = 'waiting'"))
