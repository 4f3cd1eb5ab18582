-- The life cycle of jobs and items: every change to job, item, account and ledger, each one atomic.
--
-- `lifecycle.` stands for the schema of this version of the file (pipeline/lifecycle/schema.py names it after the file's
-- hash), so that old and new processes run side by side, each with its own functions over the same tables.
--
-- Locks, always FOR NO KEY UPDATE and always in this order: the account at submission; otherwise jobs by id, their
-- items by id, accounts by id. A claim and a sweep skip what is locked and never wait.

-- submit: one request becomes a job, its ledger line and its items, or a refusal that changes nothing.
-- Outcomes: accepted, replayed (the same Idempotency-Key and request), conflict (the same key, another request),
-- insufficient, too_many, unauthorized (the key was revoked meanwhile). The items are claimed as `p_claimed_as`, by
-- default as the job's kind; rounds count the jobs of each kind apart.
CREATE FUNCTION lifecycle.submit(
    p_job uuid, p_account uuid, p_key uuid, p_kind text, p_route text, p_source text, p_request jsonb,
    p_request_id text, p_idempotency_key text, p_request_hash bytea, p_idempotency_window interval,
    p_deadline interval, p_keep_for interval, p_slice integer, p_max_open bigint, p_items jsonb, p_claimed_as text,
    OUT outcome text, OUT job_id uuid, OUT available bigint, OUT required bigint, OUT open_items bigint,
    OUT created_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    v_known record;
    v_open_of_kind bigint;
    v_counted text[] := string_to_array(current_setting('lifecycle.counted', true), ' ');
    v_count integer := jsonb_array_length(p_items);
BEGIN
    -- Locking the account first serialises doubled Idempotency-Keys and everything that spends.
    SELECT a.available INTO available FROM account a WHERE a.id = p_account FOR NO KEY UPDATE;
    required := 0;

    -- The caller's connection may have been lost after the commit: the job it names is then already there.
    -- (Found by its id alone: planned on a small table, the account's index looks as good, and reads its whole history.)
    IF EXISTS (SELECT FROM job j WHERE j.id = p_job AND j.account_id IS NOT DISTINCT FROM p_account) THEN
        outcome := 'accepted';
        job_id := p_job;
        RETURN;
    END IF;

    IF NOT EXISTS (SELECT FROM api_key k WHERE k.id = p_key AND k.account_id = p_account AND k.revoked_at IS NULL) THEN
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

    -- Submissions that came together share a transaction (pipeline/database/coalescing.py): the first counts, at 0.2 us an open job,
    -- and the others go on from there; nobody else adds jobs to the account meanwhile.
    IF v_counted[1] = p_account::text AND v_counted[2] = p_kind THEN
        open_items := v_counted[3];
        v_open_of_kind := v_counted[4];
    ELSE
        SELECT coalesce(sum(j.items_total - j.items_ok - j.items_failed), 0),
               coalesce(sum(j.items_total - j.items_ok - j.items_failed) FILTER (WHERE j.kind = p_kind), 0)
        INTO open_items, v_open_of_kind
        FROM job j WHERE j.account_id = p_account AND j.finished_at IS NULL;
    END IF;
    IF open_items + v_count > p_max_open THEN
        outcome := 'too_many';
        RETURN;
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

    available := available - required;
    UPDATE account a SET available = submit.available WHERE a.id = p_account;
    INSERT INTO job (id, account_id, api_key_id, kind, route, source, request, request_id, items_total, credits_held,
                     idempotency_key, request_hash, keep_for, deadline)
    VALUES (p_job, p_account, p_key, p_kind, p_route, p_source, p_request, p_request_id, v_count, required,
            p_idempotency_key, p_request_hash, p_keep_for, now() + p_deadline);
    IF required > 0 THEN
        INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
        VALUES (p_account, p_key, p_job, p_route, 'hold', -required, required);
    END IF;
    INSERT INTO item (job_id, index, kind, round, price, input)
    SELECT p_job, e.ordinality - 1, coalesce(p_claimed_as, p_kind), (v_open_of_kind + e.ordinality - 1) / p_slice,
           (e.value ->> 1)::integer, e.value -> 0
    FROM jsonb_array_elements(p_items) WITH ORDINALITY e ORDER BY e.ordinality;
    PERFORM set_config(
        'lifecycle.counted', concat_ws(' ', p_account, p_kind, open_items + v_count, v_open_of_kind + v_count), true);
    outcome := 'accepted';
    job_id := p_job;
    created_at := now();
END $$;

-- was_refused: whether a job ended in a way that uses no Idempotency-Key up: it was never carried out in time, or a
-- worker found what the API could not see (a file that is no audio, a text without a word, a price past the balance).
CREATE FUNCTION lifecycle.was_refused(p_state text, p_error jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_state = 'expired'
        OR p_state = 'failed' AND coalesce((p_error ->> 'status')::integer BETWEEN 400 AND 499, false)
$$;

-- claim: lease the next items of the best kind among those that the worker can serve, at most its limit.
-- The best head decides the kind: lowest (round, id), or the oldest whatever its round when `p_oldest`, so that a
-- steady flow of small jobs never starves a big one. (Oldest is by created_at: in order of id alone the planner likes
-- to walk the primary key from the first item ever made, 66 ms a claim.) An item with a crash goes out alone, and only
-- to a worker that holds nothing else (`p_alone`): a poison item never kills its neighbours. A claim repeated with its
-- lease returns the same items.
CREATE FUNCTION lifecycle.claim(
    p_kinds text[], p_limits integer[], p_lease uuid, p_lease_for interval, p_alone boolean, p_oldest boolean
) RETURNS TABLE (
    item_id bigint, job_id uuid, account_id uuid, kind text, index integer, input jsonb, price integer,
    captured integer, attempts integer, crashes integer, checkpoint jsonb, request_id text, waited interval
) LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[] := ARRAY(SELECT i.id FROM item i WHERE i.lease_id = p_lease AND i.state = 'leased');
    v_jobs uuid[];
    v_kinds text[];
    v_kind text;
BEGIN
    IF cardinality(v_ids) = 0 THEN
        IF p_oldest THEN
            v_kinds := ARRAY(
                SELECT k FROM unnest(p_kinds) k
                CROSS JOIN LATERAL (
                    SELECT i.created_at, i.id FROM item i
                    WHERE i.state = 'ready' AND i.kind = k AND (p_alone OR i.crashes = 0)
                    ORDER BY i.created_at, i.id LIMIT 1) head
                ORDER BY head.created_at, head.id);
        ELSE
            v_kinds := ARRAY(
                SELECT k FROM unnest(p_kinds) k
                CROSS JOIN LATERAL (
                    SELECT i.round, i.id FROM item i
                    WHERE i.state = 'ready' AND i.kind = k AND (p_alone OR i.crashes = 0)
                    ORDER BY i.round, i.id LIMIT 1) head
                ORDER BY head.round, head.id);
        END IF;
        FOREACH v_kind IN ARRAY v_kinds LOOP
            v_ids := lifecycle.lock_ready(v_kind, p_limits[array_position(p_kinds, v_kind)], p_alone, p_oldest);
            EXIT WHEN cardinality(v_ids) > 0;
        END LOOP;
        IF cardinality(v_ids) = 0 THEN
            RETURN;
        END IF;
        -- By the clock: a report in the same transaction may have waited for its job's row.
        UPDATE item i SET state = 'leased', lease_id = p_lease, lease_until = clock_timestamp() + p_lease_for,
                          run_at = NULL, updated_at = now()
        WHERE i.id = ANY (v_ids);
        -- A job that is locked just now is being started, or ended, by somebody else: both are as good.
        v_jobs := ARRAY(SELECT i.job_id FROM item i WHERE i.id = ANY (v_ids));
        UPDATE job j SET state = 'running', started_at = now()
        WHERE j.id = ANY (ARRAY(
            SELECT q.id FROM job q WHERE q.id = ANY (v_jobs) AND q.state = 'queued' FOR NO KEY UPDATE SKIP LOCKED));
    END IF;
    RETURN QUERY
        SELECT i.id, i.job_id, j.account_id, i.kind::text, i.index, i.input, i.price, i.captured, i.attempts, i.crashes,
               i.checkpoint, j.request_id::text, now() - i.created_at
        FROM item i JOIN job j ON j.id = i.job_id WHERE i.id = ANY (v_ids) ORDER BY i.id;
END $$;

-- lock_ready: the ids of the next ready items of a kind, locked; one with a crash alone, others without it.
CREATE FUNCTION lifecycle.lock_ready(p_kind text, p_limit integer, p_alone boolean, p_oldest boolean)
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[];
    v_first bigint;
BEGIN
    IF p_oldest THEN
        v_ids := ARRAY(
            SELECT i.id FROM item i WHERE i.state = 'ready' AND i.kind = p_kind AND (p_alone OR i.crashes = 0)
            ORDER BY i.created_at, i.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
    ELSE
        v_ids := ARRAY(
            SELECT i.id FROM item i WHERE i.state = 'ready' AND i.kind = p_kind AND (p_alone OR i.crashes = 0)
            ORDER BY i.round, i.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    IF NOT p_alone OR cardinality(v_ids) <= 1 THEN
        RETURN v_ids;
    END IF;
    v_first := v_ids[1];
    IF EXISTS (SELECT FROM item i WHERE i.id = v_first AND i.crashes > 0) THEN
        RETURN ARRAY[v_first];
    END IF;
    RETURN ARRAY(SELECT i.id FROM item i WHERE i.id = ANY (v_ids) AND i.crashes = 0);
END $$;

-- heartbeat: renew leases and write progress; returns the items still held. One that is missing was cancelled,
-- expired or lost, and only that one stops. Of `p_beats`: lease, item, and optionally progress, credits (earned so
-- far, absolute, never falling; at most the price) and checkpoint.
CREATE FUNCTION lifecycle.heartbeat(p_beats jsonb, p_lease_for interval) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_items bigint[] := ARRAY(SELECT (b ->> 'item')::bigint FROM jsonb_array_elements(p_beats) b);
BEGIN
    -- In order of id, as everybody who waits for items does; only what is still out, so a late beat waits for nobody.
    PERFORM FROM item i WHERE i.id = ANY (v_items) AND i.state = 'leased' ORDER BY i.id FOR NO KEY UPDATE;
    RETURN QUERY
        UPDATE item i SET
            lease_until = now() + p_lease_for,
            progress = coalesce(b.progress, i.progress),
            captured = greatest(i.captured, least(coalesce(b.credits, 0), i.price)),
            checkpoint = coalesce(b.checkpoint, i.checkpoint),
            updated_at = now()
        FROM jsonb_to_recordset(p_beats)
            AS b (lease uuid, item bigint, progress jsonb, credits integer, checkpoint jsonb)
        WHERE i.id = b.item AND i.lease_id = b.lease AND i.state = 'leased'
        RETURNING i.id;
END $$;

-- raise_hold: set credits aside for an item beyond what was held at submission; absolute, so that repeating it is
-- harmless. Outcomes: raised, insufficient, lost (the lease is no longer the item's).
CREATE FUNCTION lifecycle.raise_hold(
    p_lease uuid, p_item bigint, p_credits integer, OUT outcome text, OUT available bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
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
-- which are cut to 0 … price: one wrong number must not cost its neighbours their reports), retry
-- (after so many seconds; counts an attempt), release (the same, and counts none). Only items still on their lease
-- change, and counters move by what changed. Returns the items taken, and the job's state where that ended it.
CREATE FUNCTION lifecycle.report(p_outcomes jsonb)
RETURNS TABLE (item_id bigint, job_id uuid, job_state text) LANGUAGE plpgsql AS $$
DECLARE
    v_items bigint[] := ARRAY(SELECT (o ->> 'item')::bigint FROM jsonb_array_elements(p_outcomes) o);
    v_leases uuid[] := ARRAY(SELECT DISTINCT (o ->> 'lease')::uuid FROM jsonb_array_elements(p_outcomes) o);
    v_jobs uuid[];
    v_changed bigint[];
    v_complete uuid[];
BEGIN
    v_jobs := ARRAY(SELECT i.job_id FROM item i WHERE i.id = ANY (v_items) AND i.lease_id = ANY (v_leases));
    PERFORM FROM job j WHERE j.id = ANY (v_jobs) ORDER BY j.id FOR NO KEY UPDATE;
    PERFORM FROM item i WHERE i.id = ANY (v_items) AND i.lease_id = ANY (v_leases) AND i.state = 'leased'
    ORDER BY i.id FOR NO KEY UPDATE;
    WITH changed AS (
        UPDATE item i SET
            state = CASE WHEN o.outcome IN ('done', 'failed') THEN o.outcome
                         WHEN o.after > 0 THEN 'waiting' ELSE 'ready' END,
            run_at = CASE WHEN o.outcome IN ('retry', 'release') AND o.after > 0
                          THEN now() + make_interval(secs => o.after) END,
            attempts = i.attempts + (o.outcome = 'retry')::integer,
            captured = CASE WHEN o.outcome IN ('done', 'failed') THEN least(greatest(o.credits, 0), i.price)
                            ELSE i.captured END,
            output = o.output, error = o.error, updated_at = now()
        FROM jsonb_to_recordset(p_outcomes)
            AS o (lease uuid, item bigint, outcome text, credits integer, output jsonb, error jsonb, after float8,
                  engine text)
        WHERE i.id = o.item AND i.lease_id = o.lease AND i.state = 'leased' AND i.id = ANY (v_items)
        RETURNING i.id, i.job_id, i.state, o.engine
    ), counted AS (
        UPDATE job j SET items_ok = j.items_ok + c.ok, items_failed = j.items_failed + c.failed,
                         engine = coalesce(c.engine, j.engine)
        FROM (SELECT c.job_id, count(*) FILTER (WHERE c.state = 'done') AS ok,
                     count(*) FILTER (WHERE c.state = 'failed') AS failed, max(c.engine) AS engine
              FROM changed c GROUP BY c.job_id) c
        WHERE j.id = c.job_id AND j.finished_at IS NULL AND j.id = ANY (v_jobs)
        RETURNING j.id, j.items_ok + j.items_failed = j.items_total AS complete
    )
    SELECT ARRAY(SELECT c.id FROM changed c), ARRAY(SELECT c.id FROM counted c WHERE c.complete)
    INTO v_changed, v_complete;
    IF cardinality(v_complete) > 0 THEN
        PERFORM lifecycle.settle(v_complete, NULL, NULL);
    END IF;
    RETURN QUERY
        SELECT i.id, i.job_id,
               CASE WHEN i.job_id = ANY (v_complete) THEN (SELECT j.state::text FROM job j WHERE j.id = i.job_id) END
        FROM item i WHERE i.id = ANY (v_changed) ORDER BY i.id;
END $$;

-- settle: end jobs whose rows the caller has locked. What was earned is captured, the rest released, once.
CREATE FUNCTION lifecycle.settle(p_jobs uuid[], p_state text, p_error jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_account record;
BEGIN
    FOR v_account IN
        WITH settled AS (
            UPDATE job j SET
                state = coalesce(p_state, CASE WHEN j.items_ok = j.items_total THEN 'succeeded'
                                               WHEN j.items_ok = 0 THEN 'failed' ELSE 'partial' END),
                credits_captured = (SELECT coalesce(sum(i.captured), 0) FROM item i WHERE i.job_id = j.id),
                started_at = coalesce(j.started_at, CASE WHEN p_state IS NULL THEN now() END),
                finished_at = now(),
                expires_at = now() + j.keep_for,
                error = CASE WHEN p_state IS NOT NULL THEN p_error
                             WHEN j.items_ok = 0 THEN (SELECT i.error FROM item i
                                                       WHERE i.job_id = j.id AND i.state = 'failed'
                                                       ORDER BY i.index LIMIT 1) END
            WHERE j.id = ANY (p_jobs) AND j.finished_at IS NULL
            RETURNING j.id, j.account_id, j.api_key_id, j.route, j.credits_held, j.credits_captured
        ), entries AS (
            INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change)
            SELECT s.account_id, s.api_key_id, s.id, s.route, e.entry, e.available_change, e.held_change
            FROM settled s CROSS JOIN LATERAL (VALUES
                ('capture', 0, -s.credits_captured),
                ('release', s.credits_held - s.credits_captured, s.credits_captured - s.credits_held)
            ) AS e (entry, available_change, held_change)
            WHERE e.held_change <> 0
            RETURNING account_id, available_change
        )
        SELECT e.account_id AS id, sum(e.available_change) AS released FROM entries e
        GROUP BY e.account_id HAVING sum(e.available_change) > 0 ORDER BY e.account_id
    LOOP
        UPDATE account a SET available = a.available + v_account.released WHERE a.id = v_account.id;
    END LOOP;
END $$;

-- stop: end a job that the caller has locked, with what its items have earned so far.
CREATE FUNCTION lifecycle.stop(p_job uuid, p_state text, p_error jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM item i WHERE i.job_id = p_job AND i.state IN ('waiting', 'ready', 'leased')
    ORDER BY i.id FOR NO KEY UPDATE;
    UPDATE item i SET state = 'cancelled', run_at = NULL, error = p_error, updated_at = now()
    WHERE i.job_id = p_job AND i.state IN ('waiting', 'ready', 'leased');
    PERFORM lifecycle.settle(ARRAY[p_job], p_state, p_error);
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

-- wake_waiting (sweep): items whose time has come become ready; returns how many of each kind.
CREATE FUNCTION lifecycle.wake_waiting(p_limit integer) RETURNS TABLE (kind text, items bigint)
LANGUAGE sql AS $$
    WITH woken AS (
        UPDATE item i SET state = 'ready', run_at = NULL, updated_at = now()
        WHERE i.id = ANY (ARRAY(
            SELECT w.id FROM item w WHERE w.state = 'waiting' AND w.run_at <= now()
            ORDER BY w.run_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING i.kind)
    SELECT w.kind::text, count(*) FROM woken w GROUP BY w.kind
$$;

-- reap (sweep): items of one job whose lease ran out have crashed: again after 1, 2, 4 … s, or failed at the last.
-- Returns no row when there is none.
CREATE FUNCTION lifecycle.reap(p_max_crashes integer, p_error jsonb)
RETURNS TABLE (job_id uuid, crashed bigint, job_state text) LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
    v_failed bigint;
    v_complete boolean;
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
        UPDATE job j SET items_failed = j.items_failed + v_failed WHERE j.id = v_job
        RETURNING j.items_ok + j.items_failed = j.items_total INTO v_complete;
        IF v_complete THEN
            PERFORM lifecycle.settle(ARRAY[v_job], NULL, NULL);
        END IF;
        RETURN QUERY SELECT j.id, crashed, CASE WHEN v_complete THEN j.state::text END FROM job j WHERE j.id = v_job;
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

-- purge (sweep): delete the items and the request text of one job whose result has expired, some rows at a time.
-- Returns how many items went, or null when no job is due.
CREATE FUNCTION lifecycle.purge(p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_job uuid;
    v_gone bigint;
BEGIN
    SELECT j.id INTO v_job FROM job j WHERE j.purged_at IS NULL AND j.expires_at < now()
    ORDER BY j.expires_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF v_job IS NULL THEN
        RETURN NULL;
    END IF;
    DELETE FROM item i WHERE i.id = ANY (ARRAY(
        SELECT d.id FROM item d WHERE d.job_id = v_job ORDER BY d.index LIMIT p_limit));
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    IF v_gone < p_limit THEN
        UPDATE job j SET purged_at = now(), request = '{}' WHERE j.id = v_job;
    END IF;
    RETURN v_gone;
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

-- open_account: a new account with its first key and its first credits.
CREATE FUNCTION lifecycle.open_account(
    p_account uuid, p_name text, p_tier text, p_credits bigint, p_key uuid, p_key_name text, p_hash bytea, p_hint text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account (id, name, tier) VALUES (p_account, p_name, p_tier);
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

-- Plans are made once a session, often when the tables are still small, and statistics lag behind a burst. (Measured: a
-- claim planned on 300 rows ran for ten minutes on 300,000, joining two whole tables.) So the ways that are good only
-- for small tables are closed here, and what is left are the indexes made for these statements.
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
