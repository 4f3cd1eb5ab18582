"""The rules of an item's row are one function's, as those of an account's (0024)."""

from alembic import op

revision = "0026"
down_revision = "0025"

CHECKS = ("item_state_check", "item_waiting_check", "item_leased_check", "item_captured_check")
FUNCTION = """
CREATE FUNCTION item_holds_to_rules(state text, run_at timestamptz, lease_id uuid, lease_until timestamptz, captured integer, price integer)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (state IN ('waiting', 'ready', 'leased', 'done', 'failed', 'cancelled')) AND (state <> 'waiting' OR run_at IS NOT NULL) AND (state <> 'leased' OR (lease_id IS NOT NULL AND lease_until IS NOT NULL)) AND (captured BETWEEN 0 AND price); END $$
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.create_check_constraint(
        "item_rules_check", "item", "item_holds_to_rules(state, run_at, lease_id, lease_until, captured, price)"
    )
    for check in CHECKS:
        op.drop_constraint(check, "item")
