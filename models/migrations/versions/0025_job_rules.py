"""The rules of a job's row are one function's, as those of an account's (0024)."""

from alembic import op

revision = "0025"
down_revision = "0024"

CHECKS = ("job_state_check", "job_credits_check", "job_items_check", "job_finished_check")
FUNCTION = """
CREATE FUNCTION job_holds_to_rules(state text, finished_at timestamptz, items_total integer, items_ok integer, items_failed integer, credits_held integer, credits_captured integer)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'expired')) AND ((state IN ('queued', 'running')) = (finished_at IS NULL)) AND (items_ok + items_failed <= items_total) AND (credits_captured BETWEEN 0 AND credits_held); END $$
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.create_check_constraint(
        "job_rules_check",
        "job",
        "job_holds_to_rules(state, finished_at, items_total, items_ok, items_failed, credits_held, credits_captured)",
    )
    for check in CHECKS:
        op.drop_constraint(check, "job")
