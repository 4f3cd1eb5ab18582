"""A named state for each search provider's circuit breaker.

`state`, `blocked_rounds` and `brief_limits` replace `probes`, which counted good answers above 0 and blocks below it.
`probes` stays for one release: new processes neither read nor write it, so a process of the release before counts
again from what it finds there. It finds `step`, `open_until` and `off_until` as it knows them, since new processes
write them too; and new processes keep to an `open_until` that it wrote without a state.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column(
        "search_provider", sa.Column("state", sa.String(), server_default=sa.text("'closed'"), nullable=False)
    )
    for counter in ("blocked_rounds", "brief_limits"):
        op.add_column("search_provider", sa.Column(counter, sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.execute(
        "UPDATE search_provider SET blocked_rounds = greatest(-probes, 0),"
        " open_until = CASE WHEN off_until > now() THEN greatest(open_until, off_until) ELSE open_until END,"
        " state = CASE WHEN off_until > now() AND reason = 'config' THEN 'misconfigured'"
        " WHEN off_until > now() THEN 'given_up' WHEN step > 0 AND probes > 0 THEN 'recovering'"
        " WHEN step > 0 THEN 'open' ELSE 'closed' END"
    )
