"""The right counters of an account's open items, at any moment."""

from pipeline.database import Row, Statement

#: Accounts whose counters are not what their open jobs have, and those that have ended and are not taken off yet.
MISCOUNTED: Statement[list[Row]] = Statement(
    "SELECT * FROM (SELECT a.id, a.open_items, a.open_by_kind, coalesce((SELECT jsonb_object_agg(t.kind, t.items)"
    " FROM (SELECT u.kind, sum(u.items) AS items FROM ("
    "  SELECT j.kind, j.items_total AS items FROM job j WHERE j.account_id = a.id AND j.finished_at IS NULL"
    "  UNION ALL SELECT e.kind, e.items FROM ended_job e WHERE e.account_id = a.id) u GROUP BY u.kind) t"
    "), '{}') AS wanted FROM account a) found"
    " WHERE (SELECT coalesce(jsonb_object_agg(o.key, o.value) FILTER (WHERE o.value::bigint <> 0), '{}')"
    "        FROM jsonb_each(found.open_by_kind) o) <> found.wanted"
    " OR found.open_items <> (SELECT coalesce(sum(w.value::bigint), 0) FROM jsonb_each(found.wanted) w)"
)
