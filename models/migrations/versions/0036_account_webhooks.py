"""Several webhooks an account.

Ends of jobs that the release before settles are told to the account's webhooks as well; its trigger knows only a job's
own address."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.add_column("webhook", sa.Column("of_account", sa.Boolean(), nullable=False, server_default=sa.text("false")))
    op.create_index("webhook_account_idx", "webhook", ["account_id"])
    op.execute("""
        CREATE FUNCTION tell_end_to_account() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO webhook_delivery (id, job_id, body)
            SELECT gen_random_uuid(), NEW.id, '{}' FROM webhook w WHERE w.account_id = NEW.account_id AND w.url IS NOT NULL LIMIT 1;
            RETURN NULL;
        END $$
    """)
    op.execute("""
        CREATE TRIGGER job_ended_of_account AFTER UPDATE OF finished_at ON job FOR EACH ROW
        WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL AND NEW.webhook_url IS NULL
              AND current_setting('pressroom.job_end_is_told', true) IS DISTINCT FROM 'true')
        EXECUTE FUNCTION tell_end_to_account()
    """)
