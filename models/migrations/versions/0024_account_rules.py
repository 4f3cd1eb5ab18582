"""The rules of an account's row are one function's: each CHECK is read anew by every statement that writes.

The new check holds to what the old ones did, so processes of the release before see no difference. Nobody reads or writes the
table while all its rows are tried: about a second a million. So each table has a migration of its own.
"""

from alembic import op

revision = "0024"
down_revision = "0023"

CHECKS = ("account_available_check", "account_tier_check", "account_email_check")
FUNCTION = """
CREATE FUNCTION account_holds_to_rules(available bigint, tier text, email text)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (available >= 0) AND (tier IN ('free', 'pro', 'enterprise')) AND (email = lower(email)); END $$
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.create_check_constraint("account_rules_check", "account", "account_holds_to_rules(available, tier, email)")
    for check in CHECKS:
        op.drop_constraint(check, "account")
