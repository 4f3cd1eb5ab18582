-- The life cycle of jobs and items: every change to job, item, account and ledger, each one atomic.
--
-- `lifecycle.` stands for the schema of this version of the file (pipeline/lifecycle/schema.py names it after the file's
-- hash), so that old and new processes run side by side, each with its own functions over the same tables.
--
-- Locks, always FOR NO KEY UPDATE and always in this order: the account at submission; otherwise jobs by id, each with
-- its items by id, and then accounts by id. A claim and a sweep skip what is locked and never wait.

-- submit: one request becomes a job, its ledger line and its items, or a refusal that changes nothing.
-- Outcomes: accepted, replayed (the same Idempotency-Key and request), conflict (the same key, another request),
-- insufficient, key_limit (the key's own credits of this month don't suffice; `available` is then what it has left),
-- too_many, unauthorized (the key was revoked meanwhile), suspended (the account is). An item is [input, price] or
-- [input, price, lane]; without one its lane is the job's kind. Rounds count the jobs of each kind apart; priorities order
-- an account's own (`overtake`).
-- The request's webhook is told of its end, or else those that the account has then.
CREATE FUNCTION lifecycle.submit(
    p_job uuid, p_account uuid, p_key uuid, p_kind text, p_route text, p_source text, p_request jsonb,
    p_request_id text, p_idempotency_key text, p_request_hash bytea, p_idempotency_window interval,
    p_deadline interval, p_keep_for interval, p_slice integer, p_max_open bigint, p_items jsonb, p_join boolean,
    p_webhook_url text, p_webhook_events text[], p_webhook_secret text, p_priority text,
    OUT outcome text, OUT job_id uuid, OUT available bigint, OUT required bigint, OUT open_items bigint,
    OUT created_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    v_known record;
    v_key_limit bigint;
    v_key_left bigint;
    v_is_suspended boolean;
    v_open_by_kind jsonb;
    v_open_of_kind bigint;
    v_unfinished bigint;
    v_key_counted text[] := string_to_array(current_setting('lifecycle.key_counted', true), ' ');
    v_key_use bigint;
    v_count integer := jsonb_array_length(p_items);
    v_webhook uuid;
BEGIN
    -- Locking the account first serialises doubled Idempotency-Keys and everything that spends.
    SELECT a.available, a.suspended_at IS NOT NULL, a.webhook_id, a.open_items, a.open_by_kind
    INTO available, v_is_suspended, v_webhook, open_items, v_open_by_kind
    FROM account a WHERE a.id = p_account FOR NO KEY UPDATE;
    required := 0;

    -- The caller's connection may have been lost after the commit: the job it names is then already there.
    -- (Looked up by its id alone: planned on a small table, the account's index seems as good, but reads all its jobs.)
    IF EXISTS (SELECT FROM job j WHERE j.id = p_job AND j.account_id IS NOT DISTINCT FROM p_account) THEN
        outcome := 'accepted';
        job_id := p_job;
        RETURN;
    END IF;

    IF v_is_suspended THEN
        outcome := 'suspended';
        RETURN;
    END IF;

    SELECT k.credits_per_month INTO v_key_limit
    FROM api_key k WHERE k.id = p_key AND k.account_id = p_account AND k.revoked_at IS NULL;
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN;
    END IF;

    IF p_idempotency_key IS NOT NULL THEN
        SELECT j.id, j.request_hash, j.created_at > now() - p_idempotency_window AS fresh INTO v_known
        FROM job j WHERE j.account_id = p_account AND j.route = p_route AND j.idempotency_key = p_idempotency_key
            AND NOT lifecycle.was_refused(j.state, j.error)
        ORDER BY j.created_at DESC LIMIT 1;
        IF v_known.fresh THEN
            outcome := CASE WHEN v_known.request_hash = p_request_hash THEN 'replayed' ELSE 'conflict' END;
            job_id := v_known.id;
            RETURN;
        END IF;
    END IF;

    IF p_join THEN
        -- The same request, told by its hash, whose job still runs: also where both were sent at the same moment, since
        -- the account is locked. Its row is not: who settles it locks the job first, and then the account.
        SELECT j.id INTO job_id FROM job j WHERE j.account_id = p_account AND j.finished_at IS NULL
            AND j.route = p_route AND j.request_hash = p_request_hash ORDER BY j.created_at LIMIT 1;
        IF job_id IS NOT NULL THEN
            outcome := 'replayed';
            RETURN;
        END IF;
    END IF;

    -- The account's own counters, which jobs that have just ended are still in (`uncount`): counted anew before a refusal.
    IF open_items + v_count > p_max_open THEN
        SELECT c.open_items, c.open_by_kind, c.unfinished INTO open_items, v_open_by_kind, v_unfinished
        FROM lifecycle.count_open(p_account) c;
        IF v_unfinished + v_count > p_max_open THEN
            outcome := 'too_many';
            open_items := v_unfinished;
            RETURN;
        END IF;
    END IF;

    IF v_count = 1 THEN
        required := (p_items -> 0 ->> 1)::bigint;
    ELSE
        SELECT sum((e.value ->> 1)::bigint) INTO required FROM jsonb_array_elements(p_items) e;
    END IF;
    IF available < required THEN
        outcome := 'insufficient';
        RETURN;
    END IF;
    IF v_key_limit IS NOT NULL AND required > 0 THEN
        -- Submissions that came together share a transaction (pipeline/database/coalescing.py): counted once for them; anew where that leaves too little, as jobs have ended since.
        IF v_key_counted[1] = p_key::text THEN
            v_key_use := v_key_counted[2];
        END IF;
        IF v_key_use IS NULL OR v_key_use + required > v_key_limit THEN
            v_key_use := lifecycle.key_use(p_account, p_key);
        END IF;
        v_key_left := greatest(v_key_limit - v_key_use, 0);
        IF v_key_left < required THEN
            outcome := 'key_limit';
            available := v_key_left;
            RETURN;
        END IF;
        PERFORM set_config('lifecycle.key_counted', concat_ws(' ', p_key, v_key_use + required), true);
    END IF;

    IF p_webhook_url IS NOT NULL AND v_webhook IS NULL THEN
        -- What is sent there is signed; with this the account has a secret, which it can exchange for one that it knows.
        v_webhook := gen_random_uuid();
        INSERT INTO webhook (id, account_id, secret) VALUES (v_webhook, p_account, p_webhook_secret);
        UPDATE account a SET webhook_id = v_webhook WHERE a.id = p_account;
    END IF;

    v_open_of_kind := coalesce((v_open_by_kind ->> p_kind)::bigint, 0);
    IF v_open_of_kind >= p_slice AND current_setting('lifecycle.taken_off', true) IS DISTINCT FROM p_account::text THEN
        -- Jobs that have ended would push its items back, behind what is submitted after the next `uncount`. Once for all
        -- submissions of a transaction.
        PERFORM set_config('lifecycle.taken_off', p_account::text, true);
        IF EXISTS (SELECT FROM ended_job e WHERE e.account_id = p_account) THEN
            SELECT t.open_by_kind, t.open_items INTO v_open_by_kind, open_items
            FROM lifecycle.take_off(p_account, v_open_by_kind) t;
            v_open_of_kind := coalesce((v_open_by_kind ->> p_kind)::bigint, 0);
        END IF;
    END IF;

    available := available - required;
    UPDATE account a SET
        available = submit.available,
        open_items = submit.open_items + v_count,
        open_by_kind = v_open_by_kind || jsonb_build_object(p_kind, v_open_of_kind + v_count)
    WHERE a.id = p_account;
    INSERT INTO job (id, account_id, api_key_id, kind, route, source, request, request_id, items_total, credits_held,
                     idempotency_key, request_hash, keep_for, deadline, webhook_url, webhook_events, priority)
    VALUES (p_job, p_account, p_key, p_kind, p_route, p_source, p_request, p_request_id, v_count, required,
            p_idempotency_key, p_request_hash, p_keep_for, now() + p_deadline, p_webhook_url, p_webhook_events,
            p_priority);
    IF required > 0 THEN
        INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
        VALUES (p_account, p_key, p_job, p_route, 'hold', -required, required);
    END IF;
    INSERT INTO item (job_id, index, kind, lane, round, price, input)
    SELECT p_job, e.ordinality - 1, p_kind, coalesce(e.value ->> 2, p_kind),
           (v_open_of_kind + e.ordinality - 1) / p_slice, (e.value ->> 1)::integer, e.value -> 0
    FROM jsonb_array_elements(p_items) WITH ORDINALITY e;
    IF v_open_of_kind > 0 AND v_open_of_kind + v_count > p_slice AND (p_priority = 'high' OR p_priority = 'normal' AND EXISTS (
        SELECT FROM job j WHERE j.account_id = p_account AND j.finished_at IS NULL AND j.priority = 'low')) THEN
        PERFORM lifecycle.overtake(p_account, p_job, p_kind, p_priority);
    END IF;
    outcome := 'accepted';
    job_id := p_job;
    created_at := now();
END $$;

-- overtake: a new job's items take the rounds of their account's ready items of lower priority, one for one: of the first
-- round first, of the lowest priority there, the newest. Each of those goes to the round after the one that its new item
-- had, or overtakes in its turn, so that before nobody's item the account has more of its own than without. Items that are
-- locked are being claimed, and stay. Bounded: the first 10,000 items of the lane are looked at, and 1,000 overtaken.
CREATE FUNCTION lifecycle.overtake(p_account uuid, p_job uuid, p_kind text, p_priority text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_lower text[];
    v_lane text;
    v_movers bigint[];
    v_overtaken bigint[];
    v_at integer;
    v_round bigint;
    v_old record;
BEGIN
    FOR v_lane IN SELECT DISTINCT coalesce(i.lane, i.kind) FROM item i WHERE i.job_id = p_job LOOP
        v_lower := CASE p_priority WHEN 'high' THEN ARRAY['low', 'normal'] ELSE ARRAY['low'] END;
        v_movers := ARRAY(
            SELECT i.id FROM item i WHERE i.job_id = p_job AND coalesce(i.lane, i.kind) = v_lane ORDER BY i.index);
        WHILE cardinality(v_lower) > 0 AND cardinality(v_movers) > 0 LOOP
            v_overtaken := '{}';
            v_at := 1;
            FOR v_old IN
                SELECT h.id, h.round, j.priority FROM (
                    SELECT i.id, i.round, i.job_id FROM item i
                    WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = v_lane ORDER BY i.round, i.id LIMIT 10000) h
                JOIN job j ON j.id = h.job_id
                WHERE j.account_id = p_account AND j.kind = p_kind AND j.priority = ANY (v_lower)
                ORDER BY h.round, array_position(v_lower, j.priority), h.id DESC LIMIT 1000
            LOOP
                LOOP
                    SELECT i.round INTO v_round FROM item i WHERE i.id = v_movers[v_at];
                    EXIT WHEN v_at > cardinality(v_movers) OR v_round > v_old.round;
                    v_at := v_at + 1;
                END LOOP;
                EXIT WHEN v_at > cardinality(v_movers);
                PERFORM FROM item i WHERE i.id = v_old.id AND i.state = 'ready' FOR NO KEY UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
                UPDATE item i SET round = v_old.round WHERE i.id = v_movers[v_at];
                UPDATE item i SET round = v_round + 1 WHERE i.id = v_old.id;
                IF v_old.priority = 'normal' THEN
                    v_overtaken := v_overtaken || v_old.id;
                END IF;
                v_at := v_at + 1;
            END LOOP;
            v_movers := v_overtaken;
            v_lower := trim_array(v_lower, 1);
        END LOOP;
    END LOOP;
END $$;

-- count_open: count an account's open jobs anew, at 0.2 us a job: all their items for its counters, in all and by kind,
-- since all are taken off at their end, and those that are `unfinished`. What `uncount` would still take off is deleted in
-- the same statement, so that a job that ends now is seen before or after. The caller has locked the account.
CREATE FUNCTION lifecycle.count_open(
    p_account uuid, OUT open_items bigint, OUT open_by_kind jsonb, OUT unfinished bigint
) LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (DELETE FROM ended_job e WHERE e.account_id = p_account)
    SELECT coalesce(sum(c.items), 0), coalesce(jsonb_object_agg(c.kind, c.items), '{}'), coalesce(sum(c.unfinished), 0)
    INTO open_items, open_by_kind, unfinished
    FROM (SELECT j.kind, sum(j.items_total) AS items,
                 sum(j.items_total - j.items_ok - j.items_failed) AS unfinished
          FROM job j WHERE j.account_id = p_account AND j.finished_at IS NULL GROUP BY j.kind) c;
    UPDATE account a SET open_items = count_open.open_items, open_by_kind = count_open.open_by_kind
    WHERE a.id = p_account;
END $$;

-- uncount (sweep): take jobs that have ended off their accounts' counters. Ending a job does not do it: all of an
-- account's reports would then wait for each other's commits. Accounts that are locked now come next time. Returns how many
-- jobs were taken off. An account without open jobs counts from nought, whatever processes of another release left.
CREATE FUNCTION lifecycle.uncount(p_accounts integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_account uuid;
    v_open jsonb;
    v_open_items bigint;
    v_taken bigint;
    v_jobs bigint := 0;
BEGIN
    FOR v_account IN SELECT DISTINCT e.account_id FROM ended_job e ORDER BY e.account_id LIMIT p_accounts LOOP
        SELECT a.open_by_kind INTO v_open FROM account a WHERE a.id = v_account FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        SELECT t.open_by_kind, t.open_items, t.jobs INTO v_open, v_open_items, v_taken
        FROM lifecycle.take_off(v_account, v_open) t;
        v_jobs := v_jobs + v_taken;
        IF NOT EXISTS (SELECT FROM job j WHERE j.account_id = v_account AND j.finished_at IS NULL) THEN
            v_open := '{}';
            v_open_items := 0;
            -- Jobs that ended since the rows were read: taken off later, they would be taken off what is submitted next.
            WITH gone AS (DELETE FROM ended_job e WHERE e.account_id = v_account RETURNING e.job_id)
            SELECT v_jobs + count(*) INTO v_jobs FROM gone;
        END IF;
        UPDATE account a SET open_by_kind = v_open, open_items = v_open_items WHERE a.id = v_account;
    END LOOP;
    RETURN v_jobs;
END $$;

-- take_off: the counters of an account without its jobs that have ended since they were taken off last. The caller has
-- locked the account and writes them. Returns how many jobs those were.
CREATE FUNCTION lifecycle.take_off(p_account uuid, INOUT open_by_kind jsonb, OUT open_items bigint, OUT jobs bigint)
LANGUAGE plpgsql AS $$
DECLARE
    v_ended record;
BEGIN
    jobs := 0;
    FOR v_ended IN
        WITH gone AS (DELETE FROM ended_job e WHERE e.account_id = p_account RETURNING e.kind, e.items)
        SELECT g.kind, sum(g.items) AS items, count(*) AS jobs FROM gone g GROUP BY g.kind
    LOOP
        open_by_kind := open_by_kind || jsonb_build_object(
            v_ended.kind, greatest((open_by_kind ->> v_ended.kind)::bigint - v_ended.items, 0));
        jobs := jobs + v_ended.jobs;
    END LOOP;
    SELECT coalesce(sum(o.value::bigint), 0) INTO open_items FROM jsonb_each_text(open_by_kind) o;
END $$;

-- key_use: the credits that count against a key's monthly limit: captured since the month began (UTC), and held now.
-- The caller has locked the account, as all do that set credits aside, so this can't grow meanwhile; and it is read in
-- one statement, in which a job that is being settled is seen before or after. So a month's captures of a key never
-- exceed its limit, whatever goes on at once. What was captured up to `before` is summed once and noted.
CREATE FUNCTION lifecycle.key_use(p_account uuid, p_key uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_since timestamptz := date_trunc('month', now(), 'UTC');
    v_before timestamptz;
    v_noted bigint := 0;
    v_settled bigint;
    v_use bigint;
BEGIN
    SELECT s.before, s.credits INTO v_before, v_noted FROM key_spending s WHERE s.api_key_id = p_key AND s.before > v_since;
    SELECT coalesce(v_noted, 0) + e.captured + j.held, e.settled INTO v_use, v_settled
    FROM (SELECT coalesce(-sum(c.held_change), 0) AS captured,
                 count(*) FILTER (WHERE c.created_at < now() - interval '1 min') AS settled
          FROM credit_entry c
          WHERE c.api_key_id = p_key AND c.entry = 'capture' AND c.created_at >= coalesce(v_before, v_since)) e
    CROSS JOIN (SELECT coalesce(sum(o.credits_held), 0) AS held
                FROM job o WHERE o.account_id = p_account AND o.finished_at IS NULL AND o.api_key_id = p_key) j;
    IF v_settled > 1000 THEN  -- read in less than a millisecond
        PERFORM lifecycle.note_spending(p_key, coalesce(v_before, v_since), coalesce(v_noted, 0));
    END IF;
    RETURN v_use;
END $$;

-- note_spending: add to a key's note what was captured since. A line has the time at which its transaction began, so
-- none can come any more from before the oldest transaction that still runs. (Those of other roles are not shown to
-- everybody: hence the minute, which is longer than any of ours.)
CREATE FUNCTION lifecycle.note_spending(p_key uuid, p_since timestamptz, p_noted bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_before timestamptz;
BEGIN
    SELECT least(now() - interval '1 min', min(a.xact_start)) INTO v_before
    FROM pg_stat_activity a WHERE a.datname = current_database();
    IF v_before > p_since THEN
        INSERT INTO key_spending AS s (api_key_id, before, credits)
        SELECT p_key, v_before, p_noted + coalesce(-sum(c.held_change), 0) FROM credit_entry c
        WHERE c.api_key_id = p_key AND c.entry = 'capture' AND c.created_at >= p_since AND c.created_at < v_before
        ON CONFLICT (api_key_id) DO UPDATE SET before = excluded.before, credits = excluded.credits;
    END IF;
END $$;

-- was_refused: whether a job ended in a way that uses no Idempotency-Key up: it was never carried out in time, its
-- account was suspended, a worker found what the API could not see (a file that is no audio, a text without a word, a
-- price past the balance), or it failed by a fault of ours.
CREATE FUNCTION lifecycle.was_refused(p_state text, p_error jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_state = 'expired'
        OR p_state = 'cancelled' AND coalesce(p_error ->> 'code' = 'account_suspended', false)
        OR p_state = 'failed' AND coalesce((p_error ->> 'status')::integer >= 400, false)
$$;

-- claim: lease the next items of the best lane among those that the worker can serve, at most its limit.
-- The best head decides the lane: lowest (round, id), or the oldest whatever its round when `p_oldest`, so that a
-- steady flow of small jobs never starves a big one. (Oldest is by created_at: in order of id alone the planner may
-- scan the primary key from the first item ever made, 66 ms a claim.) An item with a crash is leased alone, and only to
-- a worker that holds nothing else (`p_alone`), so that no other item is lost with that worker; but in the lanes of
-- `p_together`, whose items are one request to somebody else, as if it had none. A claim repeated with its lease returns
-- the same items. They come in no order. (Item by item: a statement that joins costs more than it saves, see `report`.)
-- What an operator has paused is passed over, and not changed: `p_queue`, the kinds that `p_owners` names for the lanes
-- of one kind alone, kinds in lanes of several, and accounts.
CREATE FUNCTION lifecycle.claim(
    p_lanes text[], p_limits integer[], p_lease uuid, p_lease_for interval, p_alone boolean, p_oldest boolean,
    p_together text[], p_queue text, p_owners text[]
) RETURNS TABLE (
    item_id bigint, job_id uuid, account_id uuid, kind text, lane text, index integer, input jsonb, price integer,
    captured integer, attempts integer, crashes integer, checkpoint jsonb, request_id text, waited interval
) LANGUAGE plpgsql AS $$
DECLARE
    -- Locked: a cancel that ends them meanwhile is waited for, and what it has ended is not leased again.
    v_ids bigint[] := ARRAY(SELECT i.id FROM item i WHERE i.lease_id = p_lease AND i.state = 'leased' FOR NO KEY UPDATE);
    v_lane text;
    v_item record;
    v_job record;
    v_queued uuid[] := '{}';
    v_lanes text[] := p_lanes;
    v_kinds text[];
    v_accounts uuid[];
    v_jobs uuid[];
BEGIN
    IF cardinality(v_ids) = 0 THEN
        IF EXISTS (SELECT FROM pause) THEN
            SELECT u.lanes, u.paused_kinds, u.paused_accounts, u.paused_jobs INTO v_lanes, v_kinds, v_accounts, v_jobs
            FROM lifecycle.unpaused(p_queue, p_lanes, p_owners) u;
        END IF;
        FOREACH v_lane IN ARRAY CASE WHEN cardinality(v_lanes) <= 1 THEN v_lanes
                                     ELSE lifecycle.best_lanes(
                                         v_lanes, p_alone, p_oldest, p_together, v_kinds, v_accounts, v_jobs) END LOOP
            v_ids := lifecycle.lock_ready(
                v_lane, p_limits[array_position(p_lanes, v_lane)], p_alone, p_oldest, v_lane = ANY (p_together),
                v_kinds, v_accounts, v_jobs);
            EXIT WHEN cardinality(v_ids) > 0;
        END LOOP;
        IF cardinality(v_ids) = 0 THEN
            RETURN;
        END IF;
    END IF;
    FOR v_item IN
        -- By the clock: a report in the same transaction may have waited for its job's row.
        UPDATE item i SET state = 'leased', lease_id = p_lease, lease_until = clock_timestamp() + p_lease_for,
                          run_at = NULL, updated_at = now()
        WHERE i.id = ANY (v_ids)
        RETURNING i.id, i.job_id, coalesce(i.lane, i.kind) AS lane, i.index, i.input, i.price, i.captured, i.attempts,
                  i.crashes, i.checkpoint, now() - i.created_at AS waited
    LOOP
        IF job_id IS DISTINCT FROM v_item.job_id THEN
            SELECT j.id, j.account_id, j.kind, j.request_id, j.state INTO v_job FROM job j WHERE j.id = v_item.job_id;
            IF v_job.state = 'queued' THEN
                v_queued := v_queued || v_job.id;
            END IF;
        END IF;
        item_id := v_item.id;
        job_id := v_item.job_id;
        account_id := v_job.account_id;
        kind := v_job.kind;
        lane := v_item.lane;
        index := v_item.index;
        input := v_item.input;
        price := v_item.price;
        captured := v_item.captured;
        attempts := v_item.attempts;
        crashes := v_item.crashes;
        checkpoint := v_item.checkpoint;
        request_id := v_job.request_id;
        waited := v_item.waited;
        RETURN NEXT;
    END LOOP;
    IF cardinality(v_queued) > 0 THEN
        -- A job that is locked now is being started or ended by another transaction; then there is nothing to do here.
        UPDATE job j SET state = 'running', started_at = now()
        WHERE j.id = ANY (ARRAY(
            SELECT q.id FROM job q WHERE q.id = ANY (v_queued) AND q.state = 'queued' FOR NO KEY UPDATE SKIP LOCKED));
    END IF;
END $$;

-- unpaused: the lanes of a queue that may be claimed, and what is passed over in them; none where nobody else has an open
-- job, whose search would read all that is paused. Only called while there are pauses. Of accounts with few open jobs those
-- are named too: to pass over 100,000 items takes 0.22 s then, and 0.75 where the account of each is looked up.
CREATE FUNCTION lifecycle.unpaused(
    p_queue text, p_lanes text[], p_owners text[],
    OUT lanes text[], OUT paused_kinds text[], OUT paused_accounts uuid[], OUT paused_jobs uuid[]
) LANGUAGE plpgsql AS $$
BEGIN
    paused_kinds := ARRAY(SELECT p.name FROM pause p WHERE p.scope = 'kind');
    paused_accounts := ARRAY(SELECT p.name::uuid FROM pause p WHERE p.scope = 'account');
    lanes := ARRAY(
        SELECT l.lane FROM unnest(p_lanes, p_owners) AS l (lane, owner)
        WHERE coalesce(l.owner <> ALL (paused_kinds), true)
            AND NOT EXISTS (SELECT FROM pause p WHERE p.scope = 'queue' AND p.name = p_queue));
    IF cardinality(paused_accounts) = 0 THEN
        paused_jobs := '{}';
        RETURN;
    END IF;
    -- From each paused account to the next, so that their own jobs are not read.
    IF NOT EXISTS (
        SELECT FROM (
            SELECT a.id AS low, lead(a.id, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) OVER (ORDER BY a.id) AS high
            FROM unnest('00000000-0000-0000-0000-000000000000'::uuid || paused_accounts) AS a (id)) gap
        CROSS JOIN LATERAL (
            SELECT FROM job j WHERE j.finished_at IS NULL AND j.account_id > gap.low AND j.account_id < gap.high
            LIMIT 1) other)
    THEN
        lanes := '{}';
        RETURN;
    END IF;
    paused_jobs := ARRAY(
        SELECT j.id FROM unnest(paused_accounts) AS a (id)
        CROSS JOIN LATERAL (
            SELECT o.id FROM job o WHERE o.account_id = a.id AND o.finished_at IS NULL LIMIT 17) j LIMIT 17);
    IF cardinality(paused_jobs) > 16 THEN
        paused_jobs := NULL;
    END IF;
END $$;

-- best_lanes: the lanes that have something ready for the worker, the best head first.
-- (The owner of an item is looked up only while something is paused: `p_accounts` is null otherwise.)
CREATE FUNCTION lifecycle.best_lanes(
    p_lanes text[], p_alone boolean, p_oldest boolean, p_together text[], p_kinds text[], p_accounts uuid[],
    p_jobs uuid[]
) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
    IF p_oldest THEN
        RETURN ARRAY(
            SELECT l FROM unnest(p_lanes) l
            CROSS JOIN LATERAL (
                SELECT i.created_at, i.id FROM item i
                WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = l
                    AND (p_alone OR i.crashes = 0 OR l = ANY (p_together))
                    AND (p_accounts IS NULL OR i.kind <> ALL (p_kinds) AND CASE
                        WHEN p_jobs IS NOT NULL THEN i.job_id <> ALL (p_jobs)
                        ELSE (SELECT j.account_id FROM job j WHERE j.id = i.job_id) <> ALL (p_accounts) END)
                ORDER BY i.created_at, i.id LIMIT 1) head
            ORDER BY head.created_at, head.id);
    END IF;
    RETURN ARRAY(
        SELECT l FROM unnest(p_lanes) l
        CROSS JOIN LATERAL (
            SELECT i.round, i.id FROM item i
            WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = l
                AND (p_alone OR i.crashes = 0 OR l = ANY (p_together))
                AND (p_accounts IS NULL OR i.kind <> ALL (p_kinds) AND CASE
                    WHEN p_jobs IS NOT NULL THEN i.job_id <> ALL (p_jobs)
                    ELSE (SELECT j.account_id FROM job j WHERE j.id = i.job_id) <> ALL (p_accounts) END)
            ORDER BY i.round, i.id LIMIT 1) head
        ORDER BY head.round, head.id);
END $$;

-- lock_ready: the ids of the next ready items of a lane, locked; one with a crash alone, others without it, or both
-- `p_together`.
CREATE FUNCTION lifecycle.lock_ready(
    p_lane text, p_limit integer, p_alone boolean, p_oldest boolean, p_together boolean, p_kinds text[],
    p_accounts uuid[], p_jobs uuid[]
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_item record;
    v_ids bigint[] := '{}';
BEGIN
    IF p_oldest THEN
        FOR v_item IN
            SELECT i.id, i.crashes FROM item i WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = p_lane
                AND (p_alone OR p_together OR i.crashes = 0)
                AND (p_accounts IS NULL OR i.kind <> ALL (p_kinds) AND CASE
                    WHEN p_jobs IS NOT NULL THEN i.job_id <> ALL (p_jobs)
                    ELSE (SELECT j.account_id FROM job j WHERE j.id = i.job_id) <> ALL (p_accounts) END)
            ORDER BY i.created_at, i.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
        LOOP
            CONTINUE WHEN v_item.crashes > 0 AND NOT p_together AND cardinality(v_ids) > 0;
            v_ids := v_ids || v_item.id;
            EXIT WHEN v_item.crashes > 0 AND NOT p_together;
        END LOOP;
        RETURN v_ids;
    END IF;
    FOR v_item IN
        SELECT i.id, i.crashes FROM item i WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = p_lane
            AND (p_alone OR p_together OR i.crashes = 0)
            AND (p_accounts IS NULL OR i.kind <> ALL (p_kinds) AND CASE
                WHEN p_jobs IS NOT NULL THEN i.job_id <> ALL (p_jobs)
                ELSE (SELECT j.account_id FROM job j WHERE j.id = i.job_id) <> ALL (p_accounts) END)
        ORDER BY i.round, i.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN v_item.crashes > 0 AND NOT p_together AND cardinality(v_ids) > 0;
        v_ids := v_ids || v_item.id;
        EXIT WHEN v_item.crashes > 0 AND NOT p_together;
    END LOOP;
    RETURN v_ids;
END $$;

-- heartbeat: renew leases and write progress; returns the items still held. One that is missing was cancelled,
-- expired or lost, and only that one stops. Of `p_beats`: lease, item, and optionally progress, credits (earned so
-- far, absolute, never falling; at most the price) and checkpoint. Another checkpoint forgets earlier crashes: an item
-- that gets further each time is not what ends its processes.
CREATE FUNCTION lifecycle.heartbeat(p_beats jsonb, p_lease_for interval) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_items bigint[] := ARRAY(SELECT (b ->> 'item')::bigint FROM jsonb_array_elements(p_beats) b);
    v_slice jsonb := p_beats;
    v_slice_items bigint[];
BEGIN
    -- In the order of everybody who waits for items; only what is still out, so a late beat waits for nobody.
    PERFORM FROM item i WHERE i.id = ANY (v_items) AND i.state = 'leased' ORDER BY i.job_id, i.id FOR NO KEY UPDATE;
    -- 100 at a time, as in `report` (10,000 took 6 s, and take 0.5 s).
    FOR v_first IN 0 .. cardinality(v_items) - 1 BY 100 LOOP
        IF cardinality(v_items) > 100 THEN
            v_slice := jsonb_path_query_array(
                p_beats, '$[$first to $last]', jsonb_build_object('first', v_first, 'last', v_first + 99));
        END IF;
        v_slice_items := v_items[v_first + 1:v_first + 100];
        RETURN QUERY
            UPDATE item i SET
                lease_until = now() + p_lease_for,
                progress = coalesce(b.progress, i.progress),
                captured = greatest(i.captured, least(coalesce(b.credits, 0), i.price)),
                checkpoint = coalesce(b.checkpoint, i.checkpoint),
                crashes = CASE WHEN b.checkpoint <> coalesce(i.checkpoint, '{}') THEN 0 ELSE i.crashes END,
                updated_at = now()
            FROM jsonb_to_recordset(v_slice)
                AS b (lease uuid, item bigint, progress jsonb, credits integer, checkpoint jsonb)
            WHERE i.id = b.item AND i.lease_id = b.lease AND i.state = 'leased' AND i.id = ANY (v_slice_items)
            RETURNING i.id;
    END LOOP;
END $$;

-- raise_hold: set credits aside for an item beyond what was held at submission; absolute, so that repeating it is
-- harmless. Outcomes: raised, insufficient, key_limit (as in `submit`), lost (the lease is no longer the item's).
CREATE FUNCTION lifecycle.raise_hold(
    p_lease uuid, p_item bigint, p_credits integer, OUT outcome text, OUT available bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_key_limit bigint;
    v_key_left bigint;
    v_more integer;
BEGIN
    SELECT j.id, j.account_id, j.api_key_id, j.route INTO v_job
    FROM job j WHERE j.id = (SELECT i.job_id FROM item i WHERE i.id = p_item) FOR NO KEY UPDATE;
    SELECT p_credits - i.price INTO v_more FROM item i
    WHERE i.id = p_item AND i.lease_id = p_lease AND i.state = 'leased' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'lost';
        RETURN;
    END IF;
    SELECT a.available INTO available FROM account a WHERE a.id = v_job.account_id FOR NO KEY UPDATE;
    IF v_more > available THEN
        outcome := 'insufficient';
        RETURN;
    END IF;
    SELECT k.credits_per_month INTO v_key_limit FROM api_key k WHERE k.id = v_job.api_key_id;
    IF v_key_limit IS NOT NULL AND v_more > 0 THEN
        v_key_left := greatest(v_key_limit - lifecycle.key_use(v_job.account_id, v_job.api_key_id), 0);
        IF v_key_left < v_more THEN
            outcome := 'key_limit';
            available := v_key_left;
            RETURN;
        END IF;
    END IF;
    outcome := 'raised';
    IF v_more <= 0 THEN
        RETURN;
    END IF;
    available := available - v_more;
    UPDATE account a SET available = raise_hold.available WHERE a.id = v_job.account_id;
    UPDATE job j SET credits_held = j.credits_held + v_more WHERE j.id = v_job.id;
    UPDATE item i SET price = p_credits, updated_at = now() WHERE i.id = p_item;
    INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
    VALUES (v_job.account_id, v_job.api_key_id, v_job.id, v_job.route, 'raise', -v_more, v_more);
END $$;

-- report: what became of some items, each of which names its lease: those that a process ends at about the same time
-- share a commit, and their job's row changes hands once. Outcomes: done and failed (final, with the credits earned,
-- which are cut to 0 … price, so that one wrong number does not fail the other reports), retry
-- (after so many seconds; counts an attempt), release (the same, and counts none); one that names a lane goes on in
-- that. Only items still on their lease change, and counters move by what changed. Returns the items taken, and the
-- job's state where that ended it.
-- Item by item: a statement by primary key costs some 20 us; one that joins outcomes with items costs 100 before it has
-- changed a row, and more than in proportion when they are many.
CREATE FUNCTION lifecycle.report(p_outcomes jsonb)
RETURNS TABLE (item_id bigint, job_id uuid, job_state text) LANGUAGE plpgsql AS $$
DECLARE
    v_outcome record;
    v_job uuid;
    v_state text;
    v_taken bigint[] := '{}';
    v_ok integer := 0;
    v_failed integer := 0;
    v_engine text;
    v_advanced record;
    v_accounts uuid[] := '{}';
    v_credits bigint[] := '{}';
BEGIN
    FOR v_outcome IN
        SELECT i.job_id, o.* FROM jsonb_to_recordset(p_outcomes)
            AS o (lease uuid, item bigint, outcome text, credits integer, output jsonb, error jsonb, after float8,
                  engine text, lane text)
        JOIN item i ON i.id = o.item AND i.lease_id = o.lease
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL  -- the last job ends with it
        ORDER BY 1, 3
    LOOP
        IF v_outcome.job_id IS DISTINCT FROM v_job THEN
            IF cardinality(v_taken) > 0 THEN
                SELECT * INTO v_advanced FROM lifecycle.advance(v_job, v_ok, v_failed, v_engine);
                IF v_advanced.released > 0 THEN
                    v_accounts := v_accounts || v_advanced.account_id;
                    v_credits := v_credits || v_advanced.released;
                END IF;
                RETURN QUERY SELECT t, v_job, v_advanced.state FROM unnest(v_taken) t;
            END IF;
            v_job := v_outcome.job_id;
            v_taken := '{}';
            v_ok := 0;
            v_failed := 0;
            v_engine := NULL;
            EXIT WHEN v_job IS NULL;
            PERFORM FROM job j WHERE j.id = v_job FOR NO KEY UPDATE;
        END IF;
        UPDATE item i SET
            state = CASE WHEN v_outcome.outcome IN ('done', 'failed') THEN v_outcome.outcome
                         WHEN v_outcome.after > 0 THEN 'waiting' ELSE 'ready' END,
            run_at = CASE WHEN v_outcome.outcome IN ('retry', 'release') AND v_outcome.after > 0
                          THEN now() + make_interval(secs => v_outcome.after) END,
            attempts = i.attempts + (v_outcome.outcome = 'retry')::integer,
            captured = CASE WHEN v_outcome.outcome IN ('done', 'failed')
                            THEN least(greatest(v_outcome.credits, 0), i.price) ELSE i.captured END,
            lane = coalesce(v_outcome.lane, i.lane), output = v_outcome.output, error = v_outcome.error,
            updated_at = now()
        WHERE i.id = v_outcome.item AND i.lease_id = v_outcome.lease AND i.state = 'leased'
        RETURNING i.state INTO v_state;
        IF FOUND THEN
            v_taken := v_taken || v_outcome.item;
            v_ok := v_ok + (v_state = 'done')::integer;
            v_failed := v_failed + (v_state = 'failed')::integer;
            v_engine := greatest(v_engine, v_outcome.engine);
        END IF;
    END LOOP;
    IF cardinality(v_accounts) > 0 THEN
        PERFORM lifecycle.give_back(v_accounts, v_credits);
    END IF;
END $$;

-- advance: count items that have ended in their job, which the caller has locked, and settle it where they were the last.
-- `state` is set where they were; `released` is what the caller gives back, after all jobs (`give_back`).
-- (Open by its state: of `finished_at IS NULL` the planner reads the index of all open jobs, with what VACUUM left in it.)
CREATE FUNCTION lifecycle.advance(
    p_job uuid, p_ok integer, p_failed integer, p_engine text, OUT state text, OUT account_id uuid, OUT released bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
BEGIN
    SELECT j.items_total, j.items_ok + p_ok AS ok, j.items_failed + p_failed AS failed INTO v_job
    FROM job j WHERE j.id = p_job AND j.state IN ('queued', 'running');
    IF v_job.ok + v_job.failed = v_job.items_total THEN
        SELECT s.state, s.account_id, s.released INTO state, account_id, released
        FROM lifecycle.settle(p_job, NULL, NULL, p_ok, p_failed, p_engine) s;
    ELSE
        UPDATE job j SET items_ok = v_job.ok, items_failed = v_job.failed, engine = coalesce(p_engine, j.engine)
        WHERE j.id = p_job AND j.state IN ('queued', 'running');
    END IF;
END $$;

-- settle: end a job that the caller has locked, once. Earned credits are captured; `released` is the rest, which the
-- caller gives back to the account. `p_ok` and `p_failed` are items that have ended and are not counted yet. Without
-- `p_state` it is as its items are. If a webhook may want to know, there is a delivery, of which the sweep makes one for
-- each that does (pipeline/jobs/job_ends.py); the trigger that tells of jobs which the release before ends is kept from it.
CREATE FUNCTION lifecycle.settle(
    p_job uuid, p_state text, p_error jsonb, p_ok integer, p_failed integer, p_engine text,
    OUT state text, OUT account_id uuid, OUT released bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_captured integer;
    v_is_told CONSTANT text := set_config('pressroom.job_end_is_told', 'true', true);
BEGIN
    SELECT coalesce(sum(i.captured), 0) INTO v_captured FROM item i WHERE i.job_id = p_job;
    UPDATE job j SET
        items_ok = j.items_ok + p_ok,
        items_failed = j.items_failed + p_failed,
        engine = coalesce(p_engine, j.engine),
        state = coalesce(p_state, CASE WHEN j.items_ok + p_ok = j.items_total THEN 'succeeded'
                                       WHEN j.items_ok + p_ok = 0 THEN 'failed' ELSE 'partial' END),
        credits_captured = v_captured,
        started_at = coalesce(j.started_at, CASE WHEN p_state IS NULL THEN now() END),
        finished_at = now(),
        expires_at = now() + j.keep_for,
        error = CASE WHEN p_state IS NOT NULL THEN p_error
                     WHEN j.items_ok + p_ok = 0 THEN (SELECT i.error FROM item i
                                                      WHERE i.job_id = p_job AND i.state = 'failed'
                                                      ORDER BY i.index LIMIT 1) END
    WHERE j.id = p_job AND j.state IN ('queued', 'running')
    RETURNING j.state, j.account_id, j.api_key_id, j.kind, j.route, j.items_total, j.webhook_url,
        j.webhook_events, j.credits_held - v_captured AS rest
    INTO v_job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF v_captured > 0 THEN
        INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
        VALUES (v_job.account_id, v_job.api_key_id, p_job, v_job.route, 'capture', 0, -v_captured);
    END IF;
    IF v_job.rest > 0 THEN
        INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
        VALUES (v_job.account_id, v_job.api_key_id, p_job, v_job.route, 'release', v_job.rest, -v_job.rest);
    END IF;
    INSERT INTO ended_job (account_id, job_id, kind, items)
    VALUES (v_job.account_id, p_job, v_job.kind, v_job.items_total);
    IF v_job.webhook_events IS DISTINCT FROM '{}' AND (v_job.webhook_url IS NOT NULL OR EXISTS (
        SELECT FROM webhook w WHERE w.account_id = v_job.account_id AND w.url IS NOT NULL)) THEN
        INSERT INTO webhook_delivery (id, job_id, url, body) VALUES (gen_random_uuid(), p_job, v_job.webhook_url, '{}');
    END IF;
    state := v_job.state;
    account_id := v_job.account_id;
    released := v_job.rest;
END $$;

-- give_back: what was released of jobs goes back to their accounts; one by one, in order of id.
CREATE FUNCTION lifecycle.give_back(p_accounts uuid[], p_credits bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_account record;
BEGIN
    FOR v_account IN
        SELECT g.account AS id, sum(g.credits) AS credits FROM unnest(p_accounts, p_credits) AS g (account, credits)
        GROUP BY g.account ORDER BY g.account
    LOOP
        UPDATE account a SET available = a.available + v_account.credits WHERE a.id = v_account.id;
    END LOOP;
END $$;

-- stop: end a job that the caller has locked, with what its items have earned so far.
CREATE FUNCTION lifecycle.stop(p_job uuid, p_state text, p_error jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM item i WHERE i.job_id = p_job AND i.state IN ('waiting', 'ready', 'leased')
    ORDER BY i.id FOR NO KEY UPDATE;
    UPDATE item i SET state = 'cancelled', run_at = NULL, error = p_error, updated_at = now()
    WHERE i.job_id = p_job AND i.state IN ('waiting', 'ready', 'leased');
    PERFORM lifecycle.give_back(ARRAY[s.account_id], ARRAY[s.released])
    FROM lifecycle.settle(p_job, p_state, p_error, 0, 0, NULL) s WHERE s.released > 0;
END $$;

-- cancel: at once, whatever its items are doing. A null account is the operator. Returns the state found before
-- (null: no such job of this account); a job that had ended stays as it is.
CREATE FUNCTION lifecycle.cancel(p_job uuid, p_account uuid, p_error jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    SELECT j.state INTO v_state FROM job j
    WHERE j.id = p_job AND (p_account IS NULL OR j.account_id = p_account) FOR NO KEY UPDATE;
    IF v_state IN ('queued', 'running') THEN
        PERFORM lifecycle.stop(p_job, 'cancelled', p_error);
    END IF;
    RETURN v_state;
END $$;

-- wake_waiting (sweep): items whose time has come become ready; returns how many of each lane.
CREATE FUNCTION lifecycle.wake_waiting(p_limit integer) RETURNS TABLE (lane text, items bigint)
LANGUAGE sql AS $$
    WITH woken AS (
        UPDATE item i SET state = 'ready', run_at = NULL, updated_at = now()
        WHERE i.id = ANY (ARRAY(
            SELECT w.id FROM item w WHERE w.state = 'waiting' AND w.run_at <= now()
            ORDER BY w.run_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING coalesce(i.lane, i.kind) AS lane)
    SELECT w.lane::text, count(*) FROM woken w GROUP BY w.lane
$$;

-- overdue_machines (sweep): the machines whose leases have run out; a lease's last eight digits name its machine.
CREATE FUNCTION lifecycle.overdue_machines() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT DISTINCT right(i.lease_id::text, 8) FROM item i WHERE i.state = 'leased' AND i.lease_until < now()
$$;

-- recover (sweep): items whose lease ran out before p_until were lost with the whole system, those of p_lost with their
-- machine: at once again, no crash. Returns how many there were.
CREATE FUNCTION lifecycle.recover(p_until timestamptz, p_lost text[], p_limit integer) RETURNS bigint LANGUAGE sql AS $$
    WITH recovered AS (
        UPDATE item i SET state = 'waiting', run_at = now(), updated_at = now()
        WHERE i.id = ANY (ARRAY(
            SELECT l.id FROM item l WHERE l.state = 'leased' AND l.lease_until < now()
                AND (l.lease_until < p_until OR right(l.lease_id::text, 8) = ANY (p_lost))
            ORDER BY l.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING i.id)
    SELECT count(*) FROM recovered
$$;

-- reap (sweep): items of one job whose lease ran out have crashed: again after 1, 2, 4 … s, or failed at the last.
-- Returns no row when there is none.
CREATE FUNCTION lifecycle.reap(p_max_crashes integer, p_error jsonb)
RETURNS TABLE (job_id uuid, crashed bigint, job_state text) LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
    v_failed integer;
    v_advanced record;
BEGIN
    FOR v_job IN SELECT DISTINCT i.job_id FROM item i WHERE i.state = 'leased' AND i.lease_until < now() LOOP
        PERFORM FROM job j WHERE j.id = v_job FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        PERFORM FROM item i WHERE i.job_id = v_job AND i.state = 'leased' AND i.lease_until < now()
        ORDER BY i.id FOR NO KEY UPDATE;
        WITH changed AS (
            UPDATE item i SET
                crashes = i.crashes + 1,
                state = CASE WHEN i.crashes + 1 >= p_max_crashes THEN 'failed' ELSE 'waiting' END,
                run_at = CASE WHEN i.crashes + 1 < p_max_crashes THEN now() + interval '1 s' * 2 ^ i.crashes END,
                error = CASE WHEN i.crashes + 1 >= p_max_crashes THEN p_error END,
                updated_at = now()
            WHERE i.job_id = v_job AND i.state = 'leased' AND i.lease_until < now()
            RETURNING i.state
        )
        SELECT count(*), count(*) FILTER (WHERE c.state = 'failed') INTO crashed, v_failed FROM changed c;
        CONTINUE WHEN crashed = 0;
        SELECT * INTO v_advanced FROM lifecycle.advance(v_job, 0, v_failed, NULL);
        IF v_advanced.released > 0 THEN
            PERFORM lifecycle.give_back(ARRAY[v_advanced.account_id], ARRAY[v_advanced.released]);
        END IF;
        job_id := v_job;
        job_state := v_advanced.state;
        RETURN NEXT;
        RETURN;
    END LOOP;
END $$;

-- expire (sweep): end one job that is past its deadline; returns its id, or null when there is none.
CREATE FUNCTION lifecycle.expire(p_error jsonb) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
BEGIN
    SELECT j.id INTO v_job FROM job j WHERE j.finished_at IS NULL AND j.deadline < now()
    ORDER BY j.deadline LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF v_job IS NOT NULL THEN
        PERFORM lifecycle.stop(v_job, 'expired', p_error);
    END IF;
    RETURN v_job;
END $$;

-- end_suspended (sweep): end one open job of an account that is suspended; returns its id, or null when there is none.
CREATE FUNCTION lifecycle.end_suspended(p_error jsonb) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
BEGIN
    SELECT j.id INTO v_job FROM account a JOIN job j ON j.account_id = a.id AND j.finished_at IS NULL
    WHERE a.suspended_at IS NOT NULL LIMIT 1 FOR NO KEY UPDATE OF j SKIP LOCKED;
    IF v_job IS NOT NULL THEN
        PERFORM lifecycle.stop(v_job, 'cancelled', p_error);
    END IF;
    RETURN v_job;
END $$;

-- purge (sweep): delete the items and the request text of one job whose result has expired, some rows at a time. The
-- address that was to be told goes as well: it has been told, and may be a secret. Not of a job that its account deletes,
-- whose files go first (erased).
-- Returns how many items went, or null when no job is due.
CREATE FUNCTION lifecycle.purge(p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
    v_gone bigint;
BEGIN
    SELECT j.id INTO v_job FROM job j WHERE j.purged_at IS NULL AND j.expires_at < now() AND j.deleted_at IS NULL
    ORDER BY j.expires_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF v_job IS NULL THEN
        RETURN NULL;
    END IF;
    DELETE FROM item i WHERE i.id = ANY (ARRAY(
        SELECT d.id FROM item d WHERE d.job_id = v_job ORDER BY d.index LIMIT p_limit));
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    IF v_gone < p_limit THEN
        UPDATE job j SET purged_at = now(), request = '{}', webhook_url = NULL WHERE j.id = v_job;
    END IF;
    RETURN v_gone;
END $$;

-- erase: delete, as its account wishes, what a job was asked and what it delivered, some items at a time; the summary
-- and the ledger stay. From the first call on its result is gone. Then its files are deleted, and `erased` notes that;
-- the sweep ends what was begun and not noted. Returns the state found (null: no such job of this account) and how many
-- items went; an open job stays as it is. `p_message` stands in place of what its error says, which may quote the
-- request; the status stays, for was_refused.
CREATE FUNCTION lifecycle.erase(
    p_job uuid, p_account uuid, p_message text, p_limit integer, OUT state text, OUT gone bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT j.state INTO state FROM job j
    WHERE j.id = p_job AND j.account_id IS NOT DISTINCT FROM p_account FOR NO KEY UPDATE;
    gone := 0;
    IF state IS NULL OR state IN ('queued', 'running') THEN
        RETURN;
    END IF;
    UPDATE job j SET
        deleted_at = now(), kept_at = NULL, purged_at = NULL, expires_at = least(j.expires_at, now()),
        request = '{}', webhook_url = NULL,
        error = CASE WHEN j.error IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
            'status', j.error -> 'status', 'error', j.error -> 'error', 'code', j.error -> 'code',
            'message', p_message)) END
    WHERE j.id = p_job AND j.deleted_at IS NULL;
    IF FOUND THEN
        -- What webhooks were told, or are still to be told, has the request's name and the error too. The sweep may be
        -- writing it just now: the second statement sees what the first has waited for.
        PERFORM FROM webhook_delivery d WHERE d.job_id = p_job FOR UPDATE;
        UPDATE webhook_delivery d SET body = jsonb_set(
            jsonb_set(d.body::jsonb, '{data,name}', 'null'), '{data,error}',
            coalesce((SELECT j.error - 'status' FROM job j WHERE j.id = p_job), 'null'))::text
        WHERE d.job_id = p_job;
    END IF;
    DELETE FROM item i WHERE i.id = ANY (ARRAY(
        SELECT d.id FROM item d WHERE d.job_id = p_job ORDER BY d.index LIMIT p_limit));
    GET DIAGNOSTICS gone = ROW_COUNT;
END $$;

-- keep: keep an account's ended job past its expiry, or let it expire again, counted from now. Returns why it was not
-- done, or null: missing, open, gone (expired or deleted), too_many (the account keeps `p_most` already).
CREATE FUNCTION lifecycle.keep(p_job uuid, p_account uuid, p_keeps boolean, p_most bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
BEGIN
    -- Two at once would both find room.
    PERFORM pg_advisory_xact_lock(hashtextextended('keep ' || p_account, 0));
    SELECT j.state, j.kept_at, j.purged_at IS NOT NULL OR j.deleted_at IS NOT NULL OR coalesce(j.expires_at < now(), false) AS gone
    INTO v_job FROM job j WHERE j.id = p_job AND j.account_id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF v_job.state IN ('queued', 'running') THEN
        RETURN 'open';
    ELSIF v_job.gone THEN
        RETURN 'gone';
    ELSIF p_keeps AND v_job.kept_at IS NULL
        AND (SELECT count(*) FROM job j WHERE j.account_id = p_account AND j.kept_at IS NOT NULL) >= p_most THEN
        RETURN 'too_many';
    END IF;
    UPDATE job j SET kept_at = CASE WHEN p_keeps THEN now() END,
        expires_at = CASE WHEN NOT p_keeps THEN now() + j.keep_for END
    WHERE j.id = p_job AND (j.kept_at IS NOT NULL) <> p_keeps;
    RETURN NULL;
END $$;

-- edit: note what a reader has made of a delivered item's texts; null forgets it. Returns whether there is such an item.
CREATE FUNCTION lifecycle.edit(p_job uuid, p_account uuid, p_index integer, p_texts jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item i SET edited = p_texts FROM job j
    WHERE j.id = p_job AND j.account_id = p_account AND i.job_id = j.id AND i.index = p_index AND i.state = 'done';
    RETURN FOUND;
END $$;

-- erased: note that all of a deleted job is gone, its files too; not while it has items. Returns whether it was noted.
CREATE FUNCTION lifecycle.erased(p_job uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE job j SET purged_at = now() WHERE j.id = p_job AND j.deleted_at IS NOT NULL AND j.purged_at IS NULL
        AND NOT EXISTS (SELECT FROM item i WHERE i.job_id = p_job);
    RETURN FOUND;
END $$;

-- forget (sweep): delete the summaries of jobs that ended long ago; the ledger keeps their lines.
CREATE FUNCTION lifecycle.forget(p_older_than interval, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_gone bigint;
BEGIN
    DELETE FROM job j WHERE j.id = ANY (ARRAY(
        SELECT d.id FROM job d WHERE d.purged_at IS NOT NULL AND d.finished_at < now() - p_older_than
        ORDER BY d.finished_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    RETURN v_gone;
END $$;

-- open_account: a new account with its owner, who has its id, its first key and its first credits.
CREATE FUNCTION lifecycle.open_account(
    p_account uuid, p_name text, p_tier text, p_credits bigint, p_key uuid, p_key_name text, p_hash bytea, p_hint text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account (id, name, tier) VALUES (p_account, p_name, p_tier);
    INSERT INTO person (id, name) VALUES (p_account, p_name);
    INSERT INTO membership (account_id, person_id, role) VALUES (p_account, p_account, 'owner');
    INSERT INTO api_key (id, account_id, name, hash, hint) VALUES (p_key, p_account, p_key_name, p_hash, p_hint);
    PERFORM lifecycle.grant_credits(p_account, p_credits, 'opening balance');
END $$;

-- grant_credits: give credits to an account, or take back unspent ones; returns the new balance, null: no account.
CREATE FUNCTION lifecycle.grant_credits(p_account uuid, p_credits bigint, p_note text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_available bigint;
BEGIN
    UPDATE account a SET available = a.available + p_credits WHERE a.id = p_account
    RETURNING a.available INTO v_available;
    IF FOUND AND p_credits <> 0 THEN
        INSERT INTO credit_entry (account_id, entry, available_change, held_change, note)
        VALUES (p_account, 'grant', p_credits, 0, p_note);
    END IF;
    RETURN v_available;
END $$;

-- Drop the functions of other versions that no process has used for so long (docs/operations.md, On many machines); returns
-- their schemas. A schema's comment says when it was in use, to the hour, so that it is rarely written.
CREATE FUNCTION lifecycle.retire(p_used text[], p_keep interval) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    v_schema text;
    v_used_at timestamptz;
BEGIN
    FOR v_schema, v_used_at IN
        SELECT n.nspname, obj_description(n.oid, 'pg_namespace')::timestamptz
        FROM pg_namespace n WHERE n.nspname ~ '^lifecycle_[0-9a-f]{12}$'
    LOOP
        IF v_used_at IS NULL OR (v_schema = ANY (p_used) AND v_used_at < now() - interval '1 hour') THEN
            EXECUTE 'COMMENT ON SCHEMA ' || quote_ident(v_schema) || ' IS ' || quote_literal(date_trunc('second', now()));
        ELSIF v_schema <> ALL (p_used) AND v_used_at < now() - p_keep THEN
            EXECUTE 'DROP SCHEMA ' || quote_ident(v_schema) || ' CASCADE';
            RETURN NEXT v_schema;
        END IF;
    END LOOP;
END $$;

-- Plans are made once a session, often when the tables are still small, and statistics lag behind a burst. (Measured: a
-- claim planned on 300 rows ran for ten minutes on 300,000, joining two whole tables.) So plans that are good only for
-- small tables are disabled here, and the indexes made for these statements are left.
DO $$
DECLARE
    v_function regprocedure;
    v_setting text;
BEGIN
    FOR v_function IN
        SELECT f.oid FROM pg_proc f
        WHERE f.pronamespace = (SELECT s.pronamespace FROM pg_proc s WHERE s.oid = 'lifecycle.submit'::regproc)
    LOOP
        FOREACH v_setting IN ARRAY ARRAY[
            'plan_cache_mode = force_generic_plan',
            'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off', 'jit = off']
        LOOP
            EXECUTE 'ALTER FUNCTION ' || v_function || ' SET ' || v_setting;
        END LOOP;
    END LOOP;
    -- A claim reads the first few of very many in order; sorting them all is never the way.
    FOREACH v_setting IN ARRAY ARRAY['enable_sort = off', 'enable_bitmapscan = off'] LOOP
        EXECUTE 'ALTER FUNCTION ' || 'lifecycle.claim'::regproc::regprocedure || ' SET ' || v_setting;
    END LOOP;
END $$;
