"""Storage: what a job takes on disk, by table and index."""

import psycopg

from benchmarks.growth.filling import Size
from benchmarks.growth.table import PlainTable

_PARTS = """
SELECT t.relname AS table, 'heap' AS part, pg_relation_size(t.oid) AS bytes, t.reltuples::bigint AS rows
FROM pg_class t WHERE t.relname = ANY (%(tables)s)
UNION ALL SELECT t.relname, 'long values', pg_relation_size(t.reltoastrelid), t.reltuples::bigint
FROM pg_class t WHERE t.relname = ANY (%(tables)s) AND t.reltoastrelid <> 0
UNION ALL SELECT t.relname, i.relname, pg_relation_size(i.oid), t.reltuples::bigint
FROM pg_class t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
WHERE t.relname = ANY (%(tables)s)
ORDER BY 1, 3 DESC
"""
TABLES = ("job", "item", "credit_entry")


def bytes_a_job(url: str, size: Size) -> PlainTable:
    """Return what a job takes in each table and index."""
    jobs = size.finished + size.open
    note = f"{jobs:,} jobs; bytes a row of the table, and a job of the whole database. Deleted rows would add to it."
    table = PlainTable("Bytes on disk", note, ("table", "part", "MB", "bytes a row", "bytes a job"))
    with psycopg.connect(url) as connection:
        total = 0
        for name, part, size_bytes, rows in connection.execute(_PARTS, {"tables": list(TABLES)}).fetchall():
            total += size_bytes
            figures = (f"{size_bytes / 1e6:,.1f}", f"{size_bytes / max(rows, 1):,.0f}", f"{size_bytes / jobs:,.0f}")
            table.rows.append((name, part, *figures))
        table.rows.append(("all", "", f"{total / 1e6:,.1f}", "", f"{total / jobs:,.0f}"))
    return table
