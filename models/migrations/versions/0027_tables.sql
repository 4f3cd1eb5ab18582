-- The tables as the first release has them. Changes to them are in the migrations that follow.
-- Busy tables keep room in their pages for new versions of rows (HOT updates), and are vacuumed early.

-- The rules of a row are one function's: PostgreSQL reads each CHECK anew for every statement that writes, some 3 us
-- (docs/decisions/0048-one-check-for-a-busy-table.md).
CREATE FUNCTION account_holds_to_rules(available bigint, tier text, email text)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (available >= 0) AND (tier IN ('free', 'pro', 'enterprise')) AND (email = lower(email)); END $$;

CREATE FUNCTION item_holds_to_rules(
    state text, run_at timestamptz, lease_id uuid, lease_until timestamptz, captured integer, price integer)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (state IN ('waiting', 'ready', 'leased', 'done', 'failed', 'cancelled')) AND (state <> 'waiting' OR run_at IS NOT NULL) AND (state <> 'leased' OR (lease_id IS NOT NULL AND lease_until IS NOT NULL)) AND (captured BETWEEN 0 AND price); END $$;

CREATE FUNCTION job_holds_to_rules(
    state text, finished_at timestamptz, items_total integer, items_ok integer, items_failed integer, credits_held integer, credits_captured integer)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'expired')) AND ((state IN ('queued', 'running')) = (finished_at IS NULL)) AND (items_ok + items_failed <= items_total) AND (credits_captured BETWEEN 0 AND credits_held); END $$;

-- available excludes what open jobs hold; it is the sum of the ledger's changes and never below zero. email and
-- password_hash (argon2id) are for the dashboard. Operators see and change what is of all accounts.
CREATE TABLE account (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name varchar NOT NULL,
    tier varchar NOT NULL,
    available bigint DEFAULT 0 NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    email varchar,
    password_hash varchar,
    is_operator boolean DEFAULT false NOT NULL,
    suspended_at timestamptz,
    webhook_id uuid,  -- its own webhook, whose secret signs what is sent; no foreign key, as it names the account
    -- Items of its open jobs. They count too many for a while, never too few: jobs that have just ended (ended_job),
    -- and items that have ended in jobs that go on.
    open_items bigint DEFAULT 0 NOT NULL,
    open_by_kind jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT account_rules_check CHECK (account_holds_to_rules(available, tier, email)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

-- hint is the key's last four characters, so that its owner can tell keys apart. is_dashboard is the one key of an
-- account that stands for its sessions; nobody knows its secret. The limits are the key's own, beside those of its
-- account; null is none.
CREATE TABLE api_key (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    account_id uuid NOT NULL,
    name varchar NOT NULL,
    hash bytea NOT NULL,
    hint varchar NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    is_dashboard boolean DEFAULT false NOT NULL,
    requests_per_minute integer,
    credits_per_month bigint,  -- captured in a month of UTC, and held
    routes text[],  -- paths that it may be used for
    CONSTRAINT api_key_credits_per_month_check CHECK ((credits_per_month >= 0)),
    CONSTRAINT api_key_requests_per_minute_check CHECK ((requests_per_minute > 0)),
    PRIMARY KEY (id)
);

-- The looks of an account's latest posts, the last first; the blog capability says how many.
CREATE TABLE cover_record (
    account_id uuid NOT NULL,
    posts jsonb NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (account_id)
);

-- An account's available is the sum of available_change, and what its open jobs hold that of held_change. Route and
-- key stand here too, because the ledger outlives its jobs and is what usage is counted from.
CREATE TABLE credit_entry (
    id bigint GENERATED ALWAYS AS IDENTITY,
    account_id uuid NOT NULL,
    api_key_id uuid,
    job_id uuid,
    route varchar,
    entry varchar NOT NULL,
    available_change bigint NOT NULL,
    held_change bigint NOT NULL,
    note varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT credit_entry_entry_check CHECK (entry IN ('grant', 'hold', 'raise', 'capture', 'release')),
    PRIMARY KEY (id)
);

-- A job that its account's open_items still has in it; the sweep takes it off within about a second.
CREATE TABLE ended_job (
    account_id uuid NOT NULL,
    job_id uuid NOT NULL,
    kind varchar NOT NULL,
    items integer NOT NULL,
    PRIMARY KEY (account_id, job_id)
);

-- A schedule that makes index jobs. It is no work itself: jobs and items carry that.
CREATE TABLE index_monitor (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,  -- the key that made it, which pays while it is valid
    name varchar,
    every varchar NOT NULL,
    state varchar DEFAULT 'active' NOT NULL,
    request jsonb NOT NULL,  -- fields of its jobs: engine, index, diagnose
    urls jsonb,  -- or else: sitemap_url
    sitemap_url varchar,
    total_urls integer,  -- of the last run, or as sent; null: the sitemap has not been read
    webhook_id uuid,
    next_at timestamptz DEFAULT now() NOT NULL,  -- when the next job is due
    busy_until timestamptz,  -- a sweep makes its job; lost after that
    open_job_id uuid,  -- a job whose answers have not been looked at
    last_job_id uuid,
    last_run_at timestamptz,
    skipped jsonb,  -- why no job was made the last time: code, message, at
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT index_monitor_every_check CHECK (every IN ('day', 'week')),
    CONSTRAINT index_monitor_state_check CHECK (state IN ('active', 'paused')),
    PRIMARY KEY (id)
);

-- An answer that differs from the last one of the same index about the same URL.
CREATE TABLE index_monitor_change (
    id bigint GENERATED ALWAYS AS IDENTITY,
    monitor_id uuid NOT NULL,
    job_id uuid NOT NULL,
    url varchar NOT NULL,
    change varchar NOT NULL,
    index varchar NOT NULL,
    provider varchar NOT NULL,
    proof_url varchar,  -- of a URL that is newly indexed
    checked_at timestamptz NOT NULL,
    before_at timestamptz NOT NULL,  -- when the answer was given that no longer holds
    CONSTRAINT index_monitor_change_change_check CHECK (change IN ('newly_indexed', 'dropped')),
    PRIMARY KEY (id)
);

-- The last real answer of one index about one URL of a monitor.
CREATE TABLE index_monitor_page (
    monitor_id uuid NOT NULL,
    page bytea NOT NULL,  -- SHA-256 of the URL
    index varchar NOT NULL,
    is_indexed boolean NOT NULL,
    checked_at timestamptz NOT NULL,
    PRIMARY KEY (monitor_id, page, index)
);

-- One image, one URL, or the whole request. captured is what was earned, never more than price.
CREATE TABLE item (
    id bigint GENERATED ALWAYS AS IDENTITY,
    public_id uuid DEFAULT gen_random_uuid() NOT NULL,
    job_id uuid NOT NULL,
    index integer NOT NULL,  -- place in the request, from 0
    kind varchar NOT NULL,
    round bigint NOT NULL,  -- the turn it takes, for fairness
    state varchar DEFAULT 'ready' NOT NULL,
    run_at timestamptz,  -- when a waiting item is due
    lease_id uuid,  -- the claim it is, or last was, out on; a report with another one changes nothing
    lease_until timestamptz,
    attempts integer DEFAULT 0 NOT NULL,  -- reported retries
    crashes integer DEFAULT 0 NOT NULL,  -- leases that ran out
    price integer NOT NULL,
    captured integer DEFAULT 0 NOT NULL,
    progress jsonb,  -- {"done", "total"} in the kind's unit
    checkpoint jsonb,  -- where a next attempt goes on
    input jsonb NOT NULL,
    output jsonb,
    error jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    lane varchar,  -- what is claimed together, at one pace; null, of a release before: the kind
    CONSTRAINT item_rules_check CHECK (item_holds_to_rules(state, run_at, lease_id, lease_until, captured, price)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

-- One request. credits_held is all that was ever set aside; captured plus released make it up at the end. Neither it
-- nor its items and ledger lines have foreign keys (docs/decisions/0010): the life cycle locks and checks what they
-- name in the same statement, and pipeline.accounts.ledger looks for orphans.
CREATE TABLE job (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    kind varchar NOT NULL,  -- what was asked for: a name in pipeline.registry
    route varchar NOT NULL,  -- the path it was asked at: a kind may have several
    source varchar,
    request jsonb NOT NULL,  -- without what its items hold
    request_id varchar NOT NULL,  -- X-Request-Id of the request that made it
    state varchar DEFAULT 'queued' NOT NULL,
    items_total integer NOT NULL,
    items_ok integer DEFAULT 0 NOT NULL,
    items_failed integer DEFAULT 0 NOT NULL,
    credits_held integer NOT NULL,
    credits_captured integer DEFAULT 0 NOT NULL,
    engine varchar,  -- the engine of the item that was reported last
    idempotency_key varchar,
    request_hash bytea NOT NULL,
    keep_for interval NOT NULL,  -- results are kept so long after the end
    deadline timestamptz NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,  -- first claim
    finished_at timestamptz,
    expires_at timestamptz,  -- from then on the result is gone
    purged_at timestamptz,  -- items and request text were deleted
    error jsonb,
    deleted_at timestamptz,  -- its account deleted request and result
    webhook_url varchar,  -- is told of its end
    webhook_events varchar[],  -- of which ends; null: of all
    CONSTRAINT job_rules_check CHECK (job_holds_to_rules(state, finished_at, items_total, items_ok, items_failed, credits_held, credits_captured)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

-- A key's charges from the start of before's month (UTC) up to before, when no more lines can come. Only a memo: the
-- ledger has the same lines, and says the same without this row.
CREATE TABLE key_spending (
    api_key_id uuid NOT NULL,
    before timestamptz NOT NULL,
    credits bigint NOT NULL,
    PRIMARY KEY (api_key_id)
);

-- One account's; version counts how often it was replaced (capabilities/speech/routes/lexicon.py).
CREATE TABLE lexicon (
    account_id uuid NOT NULL,
    entries jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (account_id)
);

-- The API lists and validates from it; the worker has the last word.
CREATE TABLE offer (
    family varchar NOT NULL,
    engine varchar NOT NULL,
    ready boolean NOT NULL,
    needs varchar,  -- what is missing, when it is not ready
    content jsonb NOT NULL,  -- voices, languages
    updated_at timestamptz DEFAULT now() NOT NULL,
    place integer DEFAULT 0 NOT NULL,  -- in its pool's order of preference, from 0
    PRIMARY KEY (family, engine)
);

-- A site, or property, that a connection has access to.
CREATE TABLE owned_site (
    connection_id uuid NOT NULL,
    property varchar NOT NULL,  -- as the service writes it: https://example.org/, sc-domain:example.org
    account_id uuid NOT NULL,  -- the connection's, for one look at submission
    refusals integer DEFAULT 0 NOT NULL,  -- in a row, of this connection alone
    refused_until timestamptz,  -- until then it is left alone
    reason varchar,
    PRIMARY KEY (connection_id, property)
);

-- One row a queue and minute. Counts are sums since Redis last had none; null: Redis was away.
CREATE TABLE queue_sample (
    at timestamptz NOT NULL,  -- a full minute
    queue varchar NOT NULL,
    ready integer NOT NULL,
    waiting integer NOT NULL,
    leased integer NOT NULL,
    oldest_seconds double precision NOT NULL,  -- age of the oldest that is ready
    done bigint,
    failed bigint,
    runs bigint,  -- all that workers were done with, also what is tried again
    wait_seconds double precision,  -- of all runs together
    run_seconds double precision,
    PRIMARY KEY (at, queue)
);

-- One search engine with one key: its pace and its circuit breaker, the same for all processes.
CREATE TABLE search_provider (
    name varchar NOT NULL,  -- the provider's, and a hash of its address and key
    next_at timestamptz DEFAULT now() NOT NULL,  -- earliest time of the next query
    busy_until timestamptz,  -- a query is on its way; lost after that
    open_until timestamptz,  -- end of the rest, or of the last one
    step integer DEFAULT 0 NOT NULL,  -- the rest's place in the ladder; 0: none
    probes integer DEFAULT 0 NOT NULL,  -- of an earlier release; not used
    off_until timestamptz,  -- the same while no URL waits for it
    reason varchar,  -- why it rests
    state varchar DEFAULT 'closed' NOT NULL,  -- of the circuit breaker (capabilities/index_check/providers)
    blocked_rounds integer DEFAULT 0 NOT NULL,  -- of the release before; not used
    brief_limits integer DEFAULT 0 NOT NULL,  -- in a row, of an API
    evasions integer DEFAULT 0 NOT NULL,  -- in a row
    proven_at timestamptz,  -- it last showed rows of the site asked for, so its empty pages are real
    blocked_at timestamptz,  -- it last blocked us, or evaded an answer
    control_at timestamptz,  -- it was last asked for the control site
    shown_by jsonb,  -- engine behind it: when it last showed a row
    answered_at timestamptz,  -- it last gave an answer that counts
    PRIMARY KEY (name)
);

-- A browser that somebody has signed in with; it ends at expires_at, or sooner when it is not used.
CREATE TABLE session (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_seen_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash)
);

-- A link that signs in once; its row is deleted when it is used.
CREATE TABLE sign_in_link (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash)
);

-- The newest signs, the others still verify; a link whose key is deleted is dead.
CREATE TABLE signing_key (
    id integer NOT NULL,
    secret bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id)
);

-- An account's access to a service for site owners (capabilities/index_check/sites/connections.py).
CREATE TABLE site_connection (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    service varchar NOT NULL,  -- search_console or bing_webmaster
    name varchar NOT NULL,  -- whose access it is: a service account's address, say; no secret
    credentials bytea NOT NULL,  -- encrypted (pipeline/accounts/secret_box.py)
    fault varchar,  -- why it can't be used until it is connected anew; null: it can
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT site_connection_account_id_service_name_key UNIQUE (account_id, service, name)
);

-- A service's pace and quota for a site today, shared by all accounts and processes.
CREATE TABLE site_quota (
    service varchar NOT NULL,
    property varchar NOT NULL,
    next_at timestamptz DEFAULT now() NOT NULL,  -- earliest time of the next request
    day date,  -- the service's day that `used` counts
    used integer DEFAULT 0 NOT NULL,
    rest_until timestamptz,  -- nobody asks before
    reason varchar,  -- why it rests
    troubles integer DEFAULT 0 NOT NULL,  -- without an answer, in a row
    PRIMARY KEY (service, property)
);

-- An account's usage on a day (UTC) at a route by a key, of the summed lines: requests by their holds, credits by
-- their captures, and what both changed of what is held. Only a memo: the ledger has the same lines, and says the
-- same without this row.
CREATE TABLE usage_day (
    account_id uuid NOT NULL,
    day date NOT NULL,
    route varchar NOT NULL,
    api_key_id uuid NOT NULL,
    requests bigint NOT NULL,
    credits bigint NOT NULL,
    held bigint NOT NULL,
    PRIMARY KEY (account_id, day, route, api_key_id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

-- One row: all lines from before `before` are summed in usage_day, and none of those can come any more.
CREATE TABLE usage_summed (
    id smallint DEFAULT 1 NOT NULL,
    before timestamptz,  -- null: none is
    CONSTRAINT usage_summed_id_check CHECK ((id = 1)),
    PRIMARY KEY (id)
);

-- A search provider's last answer about a page, for all accounts: a cache.
CREATE TABLE verdict (
    page bytea NOT NULL,  -- SHA-256 of the match key
    provider varchar NOT NULL,
    output jsonb NOT NULL,
    checked_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (page, provider)
);

-- The account's own (account.webhook_id), or a monitor's: an address, and the secret that signs what is sent.
CREATE TABLE webhook (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    url varchar,  -- null: the account has a secret, and no address by default
    secret varchar NOT NULL,  -- whsec_ and base64, as Standard Webhooks has it; shown once
    created_at timestamptz DEFAULT now() NOT NULL,
    events varchar[],  -- null: all
    secret_at timestamptz DEFAULT now() NOT NULL,
    previous_secret varchar,  -- signs as well until then
    previous_until timestamptz,
    PRIMARY KEY (id)
);

-- One event for one address: tried until it is taken, or for a day (pipeline/webhooks/deliveries.py). That of a
-- monitor goes to its webhook. Others have an address of their own, and the secret of their account.
CREATE TABLE webhook_delivery (
    id uuid NOT NULL,
    webhook_id uuid,
    body varchar NOT NULL,  -- JSON, to the byte as it is signed
    state varchar DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_at timestamptz DEFAULT now() NOT NULL,  -- of the next try; while one is made, when it counts as lost
    status integer,  -- the HTTP status of the last try
    error varchar,  -- why the last try failed
    created_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    account_id uuid,
    job_id uuid,  -- the job that it tells of
    url varchar,  -- null: that of the webhook
    event varchar,  -- its type; rows of the release before have it in the body alone
    attempts_before integer DEFAULT 0 NOT NULL,  -- those before it was sent again
    tries jsonb,  -- the last tries: at, status, error, seconds
    busy_until timestamptz,  -- while a try is made: the same
    again_at timestamptz,  -- when somebody had it sent again
    CONSTRAINT webhook_delivery_state_check CHECK (state IN ('pending', 'delivered', 'failed')),
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX account_email_key ON account (email);
CREATE INDEX account_suspended_idx ON account (id) WHERE (suspended_at IS NOT NULL);
CREATE INDEX api_key_account_id_idx ON api_key (account_id);
CREATE UNIQUE INDEX api_key_dashboard_key ON api_key (account_id) WHERE is_dashboard;
CREATE UNIQUE INDEX api_key_hash_key ON api_key (hash);
CREATE INDEX credit_entry_account_id_idx ON credit_entry (account_id, created_at);
CREATE INDEX credit_entry_captured_idx ON credit_entry (api_key_id, created_at) INCLUDE (held_change) WHERE (entry = 'capture');
-- For lines that are not summed yet (pipeline/usage/usage_days.py).
CREATE INDEX credit_entry_created_at_idx ON credit_entry USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX credit_entry_grant_idx ON credit_entry (account_id, created_at) WHERE (entry = 'grant');
-- One of each a job but raise: whatever goes wrong above, a job is never charged or refunded twice.
CREATE UNIQUE INDEX credit_entry_once_a_job ON credit_entry (job_id, entry) WHERE ((job_id IS NOT NULL) AND (entry <> 'raise'));
CREATE INDEX index_monitor_account_idx ON index_monitor (account_id, created_at);
CREATE INDEX index_monitor_change_checked_at_idx ON index_monitor_change (checked_at);
CREATE INDEX index_monitor_change_monitor_idx ON index_monitor_change (monitor_id, id);
CREATE INDEX index_monitor_due_idx ON index_monitor (next_at) WHERE (state = 'active');
CREATE INDEX index_monitor_open_idx ON index_monitor (open_job_id) WHERE (open_job_id IS NOT NULL);
CREATE INDEX index_monitor_page_checked_at_idx ON index_monitor_page (checked_at);
CREATE INDEX item_indexed_idx ON item (job_id) WHERE ((output ->> 'reason') = 'indexed');
CREATE UNIQUE INDEX item_job_id_index_key ON item (job_id, index);
-- A claim reads the first of a lane. `coalesce` goes once no row without a lane is left.
CREATE INDEX item_lane_oldest_idx ON item (COALESCE(lane, kind), created_at, id) WHERE (state = 'ready');
CREATE INDEX item_lane_round_idx ON item (COALESCE(lane, kind), round, id) WHERE (state = 'ready');
-- lease_until is in no index, so that a heartbeat stays a HOT update.
CREATE INDEX item_leased_idx ON item (lease_id) WHERE (state = 'leased');
CREATE INDEX item_rate_limited_idx ON item (job_id) WHERE ((state = 'failed') AND ((error ->> 'reason') = 'rate_limited'));
CREATE INDEX item_waiting_idx ON item (run_at) WHERE (state = 'waiting');
CREATE INDEX job_account_id_created_at_idx ON job (account_id, created_at DESC);
CREATE INDEX job_being_deleted_idx ON job (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX job_deadline_idx ON job (deadline) WHERE (finished_at IS NULL);
-- This and job_undelivered_idx name no column that the first claim changes (state, started_at), which then writes no
-- index.
CREATE INDEX job_ended_badly_idx ON job (finished_at) WHERE ((finished_at IS NOT NULL) AND ((items_failed > 0) OR (error IS NOT NULL)));
CREATE INDEX job_expires_at_idx ON job (expires_at) WHERE ((purged_at IS NULL) AND (expires_at IS NOT NULL));
-- Not unique: a key may be used again once it is forgotten.
CREATE INDEX job_idempotency_key_idx ON job (account_id, route, idempotency_key, created_at DESC) WHERE (idempotency_key IS NOT NULL);
-- For lists of index jobs, which would otherwise read all of an account's jobs.
CREATE INDEX job_index_kinds_idx ON job (account_id, created_at DESC) WHERE (kind IN ('index_check', 'index_submit'));
CREATE INDEX job_open_idx ON job (account_id) WHERE (finished_at IS NULL);
CREATE INDEX job_purged_idx ON job (finished_at) WHERE (purged_at IS NOT NULL);
CREATE INDEX job_request_id_idx ON job (request_id);
CREATE INDEX job_undelivered_idx ON job (account_id, created_at DESC) WHERE ((finished_at IS NOT NULL) AND ((items_failed > 0) OR (error IS NOT NULL)));
CREATE INDEX owned_site_account_idx ON owned_site (account_id);
CREATE INDEX session_account_idx ON session (account_id);
CREATE INDEX session_expires_at_idx ON session (expires_at);
CREATE INDEX sign_in_link_account_idx ON sign_in_link (account_id);
CREATE INDEX verdict_checked_at_idx ON verdict (checked_at);
CREATE INDEX webhook_delivery_account_idx ON webhook_delivery (account_id, created_at DESC);
CREATE INDEX webhook_delivery_busy_idx ON webhook_delivery (busy_until) WHERE (busy_until IS NOT NULL);
CREATE INDEX webhook_delivery_created_at_idx ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_due_idx ON webhook_delivery (next_at) WHERE (state = 'pending');
CREATE INDEX webhook_delivery_job_idx ON webhook_delivery (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX webhook_delivery_payer_idx ON webhook_delivery (COALESCE(account_id, webhook_id), next_at) WHERE (state = 'pending');
CREATE INDEX webhook_delivery_webhook_idx ON webhook_delivery (webhook_id, created_at);

ALTER TABLE api_key ADD CONSTRAINT api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE cover_record ADD CONSTRAINT cover_record_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE index_monitor ADD CONSTRAINT index_monitor_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE index_monitor_change ADD CONSTRAINT index_monitor_change_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES index_monitor(id) ON DELETE CASCADE;
ALTER TABLE index_monitor_page ADD CONSTRAINT index_monitor_page_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES index_monitor(id) ON DELETE CASCADE;
ALTER TABLE index_monitor ADD CONSTRAINT index_monitor_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE SET NULL;
ALTER TABLE key_spending ADD CONSTRAINT key_spending_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_key(id) ON DELETE CASCADE;
ALTER TABLE lexicon ADD CONSTRAINT lexicon_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE owned_site ADD CONSTRAINT owned_site_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES site_connection(id) ON DELETE CASCADE;
ALTER TABLE session ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE sign_in_link ADD CONSTRAINT sign_in_link_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE site_connection ADD CONSTRAINT site_connection_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE webhook ADD CONSTRAINT webhook_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id);
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE;

INSERT INTO usage_summed DEFAULT VALUES;

-- Tell webhooks of jobs' ends that processes of the release before make; this release's tell of theirs themselves.
CREATE FUNCTION tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_form CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
    v_event text := CASE WHEN NEW.state IN ('succeeded', 'partial') THEN 'job.completed'
                         WHEN NEW.state = 'cancelled' THEN 'job.cancelled' ELSE 'job.failed' END;
BEGIN
    IF NEW.webhook_events IS NOT NULL AND v_event <> ALL (NEW.webhook_events) THEN
        RETURN NULL;
    END IF;
    INSERT INTO webhook_delivery (id, account_id, job_id, url, event, body)
    VALUES (gen_random_uuid(), NEW.account_id, NEW.id, NEW.webhook_url, v_event, json_build_object(
        'type', v_event,
        'timestamp', to_char(NEW.finished_at AT TIME ZONE 'UTC', v_form),
        -- As GET /jobs/{id} shows it (api/work/job_documents.py), but for its progress, whose unit only the kind knows.
        'data', json_build_object(
            'id', NEW.id, 'kind', NEW.kind, 'state', NEW.state,
            'items', json_build_object('total', NEW.items_total, 'ok', NEW.items_ok, 'failed', NEW.items_failed),
            'credits', json_build_object('held', NEW.credits_held, 'captured', NEW.credits_captured,
                                         'released', NEW.credits_held - NEW.credits_captured),
            'error', NEW.error - 'status' - 'retry_after_seconds',
            'created_at', to_char(NEW.created_at AT TIME ZONE 'UTC', v_form),
            'started_at', to_char(NEW.started_at AT TIME ZONE 'UTC', v_form),
            'finished_at', to_char(NEW.finished_at AT TIME ZONE 'UTC', v_form),
            'expires_at', to_char(NEW.expires_at AT TIME ZONE 'UTC', v_form),
            'engine', NEW.engine, 'route', NEW.route, 'source', NEW.source,
            'name', CASE WHEN jsonb_typeof(NEW.request -> 'name') = 'string' THEN NEW.request ->> 'name' END,
            'request_id', NEW.request_id,
            'links', json_build_object('self', '/jobs/' || NEW.id, 'result', '/jobs/' || NEW.id || '/result')
        ))::text);
    RETURN NULL;
END $$;

CREATE TRIGGER job_ended AFTER UPDATE OF finished_at ON job FOR EACH ROW
    WHEN (old.finished_at IS NULL AND new.finished_at IS NOT NULL AND new.webhook_url IS NOT NULL) EXECUTE FUNCTION tell_end();
