"""Job search: jobs by a text of their requests, looked for in the newest ones, within limits.

No index helps: one on texts would cost each submission more than the submission itself, and the embedded PostgreSQL has
no pg_trgm. So a search reads requests, newest first, until one of the limits here is reached, and says how far it came.
"""

import json
from typing import Any

from pipeline.database import SQL, Statement

#: Jobs, items and bytes (as stored, often compressed) that one search reads at most: a quarter of a second, most often.
MOST_JOBS = 2_000
MOST_ITEMS = 10_000
MOST_BYTES = 8 * 2**20
#: Longest time of a search: what is compressed well takes longer than its bytes say.
MOST_SECONDS = 5.0

_ESCAPES = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


def _holds(document: SQL) -> SQL:
    """Return the condition that a text of a JSON document holds the wanted one.

    The first line is fast and takes names of fields, too; the second reads what the first has found."""
    return SQL(
        "({document}::text ILIKE ANY(%(in_json)s) AND EXISTS (SELECT FROM jsonb_path_query({document}, '$.**') v"
        " WHERE jsonb_typeof(v) = 'string' AND v #>> '{{}}' ILIKE ANY(%(in_text)s)))"
    ).format(document=document)


_SEARCHED = SQL("""
, newest AS MATERIALIZED (
    SELECT j.id, j.created_at, j.request, j.items_total FROM job j
    WHERE {where} AND j.purged_at IS NULL AND j.deleted_at IS NULL
    ORDER BY j.created_at DESC, j.id LIMIT %(most_jobs)s
), looked AS MATERIALIZED (
    SELECT n.*, row_number() OVER newest_first AS place, sum(n.items_total) OVER newest_first - n.items_total AS before
    FROM newest n WINDOW newest_first AS (ORDER BY n.created_at DESC, n.id)
), texts AS MATERIALIZED (
    SELECT l.id, l.created_at, i.input,
           sum(pg_column_size(i.input)) OVER (ORDER BY l.place, i.index) - pg_column_size(i.input) AS bytes_before
    FROM looked l JOIN item i ON i.job_id = l.id WHERE l.before < %(most_items)s
), found AS MATERIALIZED (
    SELECT l.id FROM looked l WHERE {request_holds}
    UNION SELECT t.id FROM texts t WHERE t.bytes_before < %(most_bytes)s AND {input_holds}
), limited AS (
    SELECT min(t.created_at) FILTER (WHERE t.bytes_before < %(most_bytes)s) AS since FROM texts t
    HAVING (SELECT count(*) FROM newest) = %(most_jobs)s OR max(t.bytes_before) >= %(most_bytes)s
        OR EXISTS (SELECT FROM looked l WHERE l.before >= %(most_items)s)
), reach AS (
    SELECT coalesce((SELECT l.since FROM limited l), s.since) AS since FROM span s
)
""")
_REQUEST_HOLDS, _INPUT_HOLDS = _holds(SQL("l.request")), _holds(SQL("t.input"))


def searched(where: SQL) -> SQL:
    """Return the part of a list's statement that searches.

    `where` chooses among the jobs that the list looks at (`span`, in pipeline/jobs/job_lists.py). `found` are the jobs;
    `reach` says when the oldest job that was looked at was made, null where all were."""
    return _SEARCHED.format(where=where, request_holds=_REQUEST_HOLDS, input_holds=_INPUT_HOLDS)


def within_seconds(seconds: float) -> Statement[None]:
    """Return what ends the statements after it in the same transaction when they take longer."""
    return Statement(
        "SELECT set_config('statement_timeout', %(milliseconds)s, true)",
        {"milliseconds": f"{seconds * 1_000:.0f}"},
        lambda rows: None,
    )


def search_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of a search. Under the locale C only ASCII letters have two cases, so that the usual
    spellings of others are given."""
    spellings = sorted({text, text.lower(), text.upper(), text.title(), text.capitalize()})
    return {
        "in_text": [f"%{spelling.translate(_ESCAPES)}%" for spelling in spellings],
        "in_json": [f"%{json.dumps(one, ensure_ascii=False)[1:-1].translate(_ESCAPES)}%" for one in spellings],
        "most_jobs": MOST_JOBS,
        "most_items": MOST_ITEMS,
        "most_bytes": MOST_BYTES,
    }
