-- The ledger's audit: one row for each number that contradicts another one, the first 100.
WITH entries AS (
    SELECT account_id, sum(available_change) AS available, sum(held_change) AS held
    FROM credit_entry GROUP BY account_id
), holds AS (
    SELECT account_id, sum(credits_held) AS held FROM job WHERE finished_at IS NULL GROUP BY account_id
), accounts AS (
    SELECT a.id, a.available, coalesce(e.available, 0) AS earned, coalesce(e.held, 0) AS set_aside,
           coalesce(h.held, 0) AS held
    FROM account a LEFT JOIN entries e ON e.account_id = a.id LEFT JOIN holds h ON h.account_id = a.id
), job_entries AS (
    SELECT job_id, -coalesce(sum(held_change) FILTER (WHERE entry = 'capture'), 0) AS captured,
           sum(held_change) AS held, sum(available_change) AS paid
    FROM credit_entry WHERE job_id IS NOT NULL GROUP BY job_id
), job_items AS (
    SELECT job_id, count(*) AS total, sum(price) AS price, sum(captured) AS captured,
           count(*) FILTER (WHERE state = 'done') AS ok, count(*) FILTER (WHERE state = 'failed') AS failed,
           count(*) FILTER (WHERE state IN ('waiting', 'ready', 'leased')) AS open
    FROM item GROUP BY job_id
), jobs AS (
    SELECT j.*, j.finished_at IS NULL AS is_open,
           j.purged_at IS NULL AND coalesce(j.expires_at >= now(), true) AS is_kept,
           coalesce(e.captured, 0) AS entries_captured,
           coalesce(e.held, 0) AS entries_held, coalesce(-e.paid, 0) AS entries_paid, i.total, i.price,
           i.captured, i.ok, i.failed, coalesce(i.open, 0) AS open
    FROM job j LEFT JOIN job_entries e ON e.job_id = j.id LEFT JOIN job_items i ON i.job_id = j.id
), days AS (
    SELECT account_id, day, route, api_key_id, n.name, coalesce(n.summed, 0) AS summed, coalesce(n.lines, 0) AS lines
    FROM usage_day u FULL JOIN (
        SELECT e.account_id, (e.created_at AT TIME ZONE 'UTC')::date AS day, e.route, e.api_key_id,
               count(*) FILTER (WHERE e.entry = 'hold') AS requests,
               -sum(e.held_change) FILTER (WHERE e.entry = 'capture') AS credits, sum(e.held_change) AS held
        FROM credit_entry e WHERE e.job_id IS NOT NULL AND e.created_at < (SELECT before FROM usage_summed)
        GROUP BY 1, 2, 3, 4) l USING (account_id, day, route, api_key_id)
    CROSS JOIN LATERAL (VALUES
        ('requests', u.requests, l.requests), ('credits', u.credits, l.credits), ('held', u.held, l.held)
    ) n (name, summed, lines)
)
SELECT rule, row::text, found::text, expected::text FROM (
    SELECT 'balance is the sum of the ledger' AS rule, 'account ' || id AS row, available AS found, earned AS expected
    FROM accounts
    UNION ALL SELECT 'what is held is the sum over open jobs', 'account ' || id, set_aside, held FROM accounts
    UNION ALL SELECT 'no balance is below zero', 'account ' || id, available, greatest(available, 0) FROM accounts
    UNION ALL SELECT 'an open job holds all its credits, an ended one none', 'job ' || id, entries_held,
                     CASE WHEN is_open THEN credits_held ELSE 0 END FROM jobs
    UNION ALL SELECT 'an open job has been charged nothing, an ended one what it captured', 'job ' || id,
                     entries_captured, CASE WHEN is_open THEN 0 ELSE credits_captured END FROM jobs
    UNION ALL SELECT 'an ended job cost what it captured', 'job ' || id, entries_paid,
                     CASE WHEN is_open THEN credits_held ELSE credits_captured END FROM jobs
    UNION ALL SELECT 'captured is at most held', 'job ' || id, credits_captured,
                     least(credits_captured, credits_held) FROM jobs
    UNION ALL SELECT 'a job holds the price of its items', 'job ' || id, credits_held, price
              FROM jobs WHERE is_kept
    UNION ALL SELECT 'an ended job captured what its items earned', 'job ' || id, credits_captured, captured
              FROM jobs WHERE is_kept AND NOT is_open
    UNION ALL SELECT 'a job has all its items', 'job ' || id, total, items_total FROM jobs WHERE is_kept
    UNION ALL SELECT 'items_ok counts the done items', 'job ' || id, items_ok, ok FROM jobs WHERE is_kept
    UNION ALL SELECT 'items_failed counts the failed items', 'job ' || id, items_failed, failed
              FROM jobs WHERE is_kept
    UNION ALL SELECT 'an ended job has no open items', 'job ' || id, open, 0 FROM jobs WHERE NOT is_open
    UNION ALL SELECT 'an open job has an open item', 'job ' || id, least(open, 1), 1 FROM jobs WHERE is_open
    UNION ALL SELECT 'an item has a job', 'item ' || i.id, 0, 1
              FROM item i WHERE NOT EXISTS (SELECT FROM job j WHERE j.id = i.job_id)
    UNION ALL SELECT 'a job has an account and a key of it', 'job ' || j.id, 0, 1 FROM job j WHERE NOT EXISTS (
              SELECT FROM api_key k WHERE k.id = j.api_key_id AND k.account_id = j.account_id)
    UNION ALL SELECT 'a ledger line has an account', 'entry ' || e.id, 0, 1
              FROM credit_entry e WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = e.account_id)
    UNION ALL SELECT 'a day of usage is the sum of its ledger lines',
                     concat_ws(' ', name, 'of', day, route, 'key', api_key_id, 'account', account_id), summed, lines
              FROM days
    UNION ALL SELECT 'an item earned at most its price', 'item ' || id, captured, least(captured, price) FROM item
) checked WHERE found IS DISTINCT FROM expected ORDER BY rule, row LIMIT 100
