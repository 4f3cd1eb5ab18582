"""Notices: watched pages that were listed or dropped."""

from pipeline.notices.sources import Source
from pipeline.webhooks.events import MONITOR_CHANGED

# Answers of a job are compared after it has ended; ten minutes later all are.
SOURCES = (
    Source(
        MONITOR_CHANGED,
        "Watched pages are listed or dropped",
        "Watched pages that changed: {number}",
        "SELECT c.url || CASE c.change WHEN 'newly_indexed' THEN ' is' ELSE ' is no longer' END || ' listed by '"
        " || c.index AS line, '/dashboard/indexing/monitors/' || m.id AS path"
        " FROM index_monitor m JOIN index_monitor_change c ON c.monitor_id = m.id JOIN job j ON j.id = c.job_id"
        " WHERE m.account_id = %(account)s AND j.finished_at > %(since)s - interval '10 minutes'"
        " AND j.finished_at <= %(until)s - interval '10 minutes' ORDER BY c.id",
    ),
)
