"""The trigger that tells webhooks of jobs' ends is for the release before alone: it knows nothing of other ends.

The life cycle tells of them itself since (pipeline/jobs/job_ends.py), and says so in its transaction."""

from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.execute("""
        CREATE OR REPLACE TRIGGER job_ended AFTER UPDATE OF finished_at ON job FOR EACH ROW
        WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL AND NEW.webhook_url IS NOT NULL
              AND current_setting('pressroom.job_end_is_told', true) IS DISTINCT FROM 'true')
        EXECUTE FUNCTION tell_end()
    """)
