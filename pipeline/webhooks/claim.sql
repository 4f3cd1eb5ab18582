-- Take deliveries that are due, the longest due first, so that only so many of one account and to one host are on their
-- way at a time. Each account's are looked at apart: one that has a hundred thousand due costs as much as one that has a
-- few, and holds up nobody.
WITH RECURSIVE payer AS (
    (SELECT coalesce(d.account_id, d.webhook_id) AS id FROM webhook_delivery d WHERE d.state = 'pending'
     ORDER BY coalesce(d.account_id, d.webhook_id) LIMIT 1)
    UNION ALL
    SELECT (SELECT coalesce(d.account_id, d.webhook_id) FROM webhook_delivery d
            WHERE d.state = 'pending' AND coalesce(d.account_id, d.webhook_id) > p.id
            ORDER BY coalesce(d.account_id, d.webhook_id) LIMIT 1)
    FROM payer p WHERE p.id IS NOT NULL
), due AS (
    SELECT d.id, p.id AS payer, d.next_at, d.webhook_id, d.url FROM payer p CROSS JOIN LATERAL (
        SELECT o.id, o.next_at, o.webhook_id, o.url FROM webhook_delivery o
        WHERE o.state = 'pending' AND coalesce(o.account_id, o.webhook_id) = p.id AND o.next_at <= now()
        -- More than may go, as some of them may be for a host that has enough.
        ORDER BY o.next_at LIMIT 4 * %(account)s) d
    WHERE p.id IS NOT NULL
), busy AS (
    SELECT coalesce(d.account_id, d.webhook_id) AS payer, d.webhook_id, d.url FROM webhook_delivery d
    WHERE d.busy_until > now() AND d.state = 'pending'
), hosts AS (
    SELECT b.*, substring(lower(coalesce(b.url, w.url)) FROM '^[a-z]+://([^/?#]*)') AS host FROM (
        SELECT d.id, d.payer, d.next_at, d.webhook_id, d.url FROM due d
        -- Those on their way come first, and count.
        UNION ALL SELECT NULL, b.payer, '-infinity', b.webhook_id, b.url FROM busy b) b
    LEFT JOIN webhook w ON w.id = b.webhook_id
), fitting AS (
    SELECT h.*, row_number() OVER (PARTITION BY h.host ORDER BY h.next_at) AS of_host FROM hosts h
), ranked AS (
    SELECT f.id, f.next_at, row_number() OVER (PARTITION BY f.payer ORDER BY f.next_at) AS of_payer
    FROM fitting f WHERE f.of_host <= %(host)s OR f.id IS NULL
)
UPDATE webhook_delivery d SET attempts = d.attempts + 1, next_at = now() + %(lease)s, busy_until = now() + %(lease)s
FROM webhook_delivery c
LEFT JOIN account a ON a.id = c.account_id
JOIN webhook w ON w.id = coalesce(c.webhook_id, a.webhook_id)
WHERE c.id = d.id AND d.state = 'pending' AND d.next_at <= now() AND d.id = ANY (ARRAY(
    SELECT r.id FROM ranked r WHERE r.id IS NOT NULL AND r.of_payer <= %(account)s ORDER BY r.next_at LIMIT %(limit)s))
RETURNING d.id, d.body, d.attempts, d.attempts_before, now() - coalesce(d.again_at, d.created_at) AS age,
    coalesce(d.url, w.url) AS url,
    CASE WHEN w.previous_until > now() THEN ARRAY[w.secret, w.previous_secret] ELSE ARRAY[w.secret] END AS secrets
