-- The tables as the first release has them. Changes to them are in the migrations that follow.

-- The rules of a row are one function's, because each CHECK is read anew by every statement that writes.
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
    webhook_id uuid,
    open_items bigint DEFAULT 0 NOT NULL,
    open_by_kind jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT account_rules_check CHECK (account_holds_to_rules(available, tier, email)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

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
    credits_per_month bigint,
    routes text[],
    CONSTRAINT api_key_credits_per_month_check CHECK ((credits_per_month >= 0)),
    CONSTRAINT api_key_requests_per_minute_check CHECK ((requests_per_minute > 0)),
    PRIMARY KEY (id)
);

CREATE TABLE cover_record (
    account_id uuid NOT NULL,
    posts jsonb NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (account_id)
);

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

CREATE TABLE ended_job (
    account_id uuid NOT NULL,
    job_id uuid NOT NULL,
    kind varchar NOT NULL,
    items integer NOT NULL,
    PRIMARY KEY (account_id, job_id)
);

CREATE TABLE index_monitor (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    name varchar,
    every varchar NOT NULL,
    state varchar DEFAULT 'active' NOT NULL,
    request jsonb NOT NULL,
    urls jsonb,
    sitemap_url varchar,
    total_urls integer,
    webhook_id uuid,
    next_at timestamptz DEFAULT now() NOT NULL,
    busy_until timestamptz,
    open_job_id uuid,
    last_job_id uuid,
    last_run_at timestamptz,
    skipped jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT index_monitor_every_check CHECK (every IN ('day', 'week')),
    CONSTRAINT index_monitor_state_check CHECK (state IN ('active', 'paused')),
    PRIMARY KEY (id)
);

CREATE TABLE index_monitor_change (
    id bigint GENERATED ALWAYS AS IDENTITY,
    monitor_id uuid NOT NULL,
    job_id uuid NOT NULL,
    url varchar NOT NULL,
    change varchar NOT NULL,
    index varchar NOT NULL,
    provider varchar NOT NULL,
    proof_url varchar,
    checked_at timestamptz NOT NULL,
    before_at timestamptz NOT NULL,
    CONSTRAINT index_monitor_change_change_check CHECK (change IN ('newly_indexed', 'dropped')),
    PRIMARY KEY (id)
);

CREATE TABLE index_monitor_page (
    monitor_id uuid NOT NULL,
    page bytea NOT NULL,
    index varchar NOT NULL,
    is_indexed boolean NOT NULL,
    checked_at timestamptz NOT NULL,
    PRIMARY KEY (monitor_id, page, index)
);

CREATE TABLE item (
    id bigint GENERATED ALWAYS AS IDENTITY,
    public_id uuid DEFAULT gen_random_uuid() NOT NULL,
    job_id uuid NOT NULL,
    index integer NOT NULL,
    kind varchar NOT NULL,
    round bigint NOT NULL,
    state varchar DEFAULT 'ready' NOT NULL,
    run_at timestamptz,
    lease_id uuid,
    lease_until timestamptz,
    attempts integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    price integer NOT NULL,
    captured integer DEFAULT 0 NOT NULL,
    progress jsonb,
    checkpoint jsonb,
    input jsonb NOT NULL,
    output jsonb,
    error jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    lane varchar,
    CONSTRAINT item_rules_check CHECK (item_holds_to_rules(state, run_at, lease_id, lease_until, captured, price)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

CREATE TABLE job (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    kind varchar NOT NULL,
    route varchar NOT NULL,
    source varchar,
    request jsonb NOT NULL,
    request_id varchar NOT NULL,
    state varchar DEFAULT 'queued' NOT NULL,
    items_total integer NOT NULL,
    items_ok integer DEFAULT 0 NOT NULL,
    items_failed integer DEFAULT 0 NOT NULL,
    credits_held integer NOT NULL,
    credits_captured integer DEFAULT 0 NOT NULL,
    engine varchar,
    idempotency_key varchar,
    request_hash bytea NOT NULL,
    keep_for interval NOT NULL,
    deadline timestamptz NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    expires_at timestamptz,
    purged_at timestamptz,
    error jsonb,
    deleted_at timestamptz,
    webhook_url varchar,
    webhook_events varchar[],
    CONSTRAINT job_rules_check CHECK (job_holds_to_rules(state, finished_at, items_total, items_ok, items_failed, credits_held, credits_captured)),
    PRIMARY KEY (id)
) WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_analyze_scale_factor='0.02');

CREATE TABLE key_spending (
    api_key_id uuid NOT NULL,
    before timestamptz NOT NULL,
    credits bigint NOT NULL,
    PRIMARY KEY (api_key_id)
);

CREATE TABLE lexicon (
    account_id uuid NOT NULL,
    entries jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (account_id)
);

CREATE TABLE offer (
    family varchar NOT NULL,
    engine varchar NOT NULL,
    ready boolean NOT NULL,
    needs varchar,
    content jsonb NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    place integer DEFAULT 0 NOT NULL,
    PRIMARY KEY (family, engine)
);

CREATE TABLE owned_site (
    connection_id uuid NOT NULL,
    property varchar NOT NULL,
    account_id uuid NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    refused_until timestamptz,
    reason varchar,
    PRIMARY KEY (connection_id, property)
);

CREATE TABLE queue_sample (
    at timestamptz NOT NULL,
    queue varchar NOT NULL,
    ready integer NOT NULL,
    waiting integer NOT NULL,
    leased integer NOT NULL,
    oldest_seconds double precision NOT NULL,
    done bigint,
    failed bigint,
    runs bigint,
    wait_seconds double precision,
    run_seconds double precision,
    PRIMARY KEY (at, queue)
);

CREATE TABLE search_provider (
    name varchar NOT NULL,
    next_at timestamptz DEFAULT now() NOT NULL,
    busy_until timestamptz,
    open_until timestamptz,
    step integer DEFAULT 0 NOT NULL,
    probes integer DEFAULT 0 NOT NULL,
    off_until timestamptz,
    reason varchar,
    state varchar DEFAULT 'closed' NOT NULL,
    blocked_rounds integer DEFAULT 0 NOT NULL,
    brief_limits integer DEFAULT 0 NOT NULL,
    evasions integer DEFAULT 0 NOT NULL,
    proven_at timestamptz,
    blocked_at timestamptz,
    control_at timestamptz,
    shown_by jsonb,
    answered_at timestamptz,
    PRIMARY KEY (name)
);

CREATE TABLE session (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_seen_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash)
);

CREATE TABLE sign_in_link (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash)
);

CREATE TABLE signing_key (
    id integer NOT NULL,
    secret bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE site_connection (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    service varchar NOT NULL,
    name varchar NOT NULL,
    credentials bytea NOT NULL,
    fault varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT site_connection_account_id_service_name_key UNIQUE (account_id, service, name)
);

CREATE TABLE site_quota (
    service varchar NOT NULL,
    property varchar NOT NULL,
    next_at timestamptz DEFAULT now() NOT NULL,
    day date,
    used integer DEFAULT 0 NOT NULL,
    rest_until timestamptz,
    reason varchar,
    troubles integer DEFAULT 0 NOT NULL,
    PRIMARY KEY (service, property)
);

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

CREATE TABLE usage_summed (
    id smallint DEFAULT 1 NOT NULL,
    before timestamptz,
    CONSTRAINT usage_summed_id_check CHECK ((id = 1)),
    PRIMARY KEY (id)
);

CREATE TABLE verdict (
    page bytea NOT NULL,
    provider varchar NOT NULL,
    output jsonb NOT NULL,
    checked_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (page, provider)
);

CREATE TABLE webhook (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    url varchar,
    secret varchar NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    events varchar[],
    secret_at timestamptz DEFAULT now() NOT NULL,
    previous_secret varchar,
    previous_until timestamptz,
    PRIMARY KEY (id)
);

CREATE TABLE webhook_delivery (
    id uuid NOT NULL,
    webhook_id uuid,
    body varchar NOT NULL,
    state varchar DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_at timestamptz DEFAULT now() NOT NULL,
    status integer,
    error varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    account_id uuid,
    job_id uuid,
    url varchar,
    event varchar,
    attempts_before integer DEFAULT 0 NOT NULL,
    tries jsonb,
    busy_until timestamptz,
    again_at timestamptz,
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
CREATE INDEX credit_entry_created_at_idx ON credit_entry USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX credit_entry_grant_idx ON credit_entry (account_id, created_at) WHERE (entry = 'grant');
CREATE UNIQUE INDEX credit_entry_once_a_job ON credit_entry (job_id, entry) WHERE ((job_id IS NOT NULL) AND (entry <> 'raise'));
CREATE INDEX index_monitor_account_idx ON index_monitor (account_id, created_at);
CREATE INDEX index_monitor_change_checked_at_idx ON index_monitor_change (checked_at);
CREATE INDEX index_monitor_change_monitor_idx ON index_monitor_change (monitor_id, id);
CREATE INDEX index_monitor_due_idx ON index_monitor (next_at) WHERE (state = 'active');
CREATE INDEX index_monitor_open_idx ON index_monitor (open_job_id) WHERE (open_job_id IS NOT NULL);
CREATE INDEX index_monitor_page_checked_at_idx ON index_monitor_page (checked_at);
CREATE INDEX item_indexed_idx ON item (job_id) WHERE ((output ->> 'reason') = 'indexed');
CREATE UNIQUE INDEX item_job_id_index_key ON item (job_id, index);
CREATE INDEX item_lane_oldest_idx ON item (COALESCE(lane, kind), created_at, id) WHERE (state = 'ready');
CREATE INDEX item_lane_round_idx ON item (COALESCE(lane, kind), round, id) WHERE (state = 'ready');
CREATE INDEX item_leased_idx ON item (lease_id) WHERE (state = 'leased');
CREATE INDEX item_rate_limited_idx ON item (job_id) WHERE ((state = 'failed') AND ((error ->> 'reason') = 'rate_limited'));
CREATE INDEX item_waiting_idx ON item (run_at) WHERE (state = 'waiting');
CREATE INDEX job_account_id_created_at_idx ON job (account_id, created_at DESC);
CREATE INDEX job_being_deleted_idx ON job (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX job_deadline_idx ON job (deadline) WHERE (finished_at IS NULL);
CREATE INDEX job_ended_badly_idx ON job (finished_at) WHERE ((finished_at IS NOT NULL) AND ((items_failed > 0) OR (error IS NOT NULL)));
CREATE INDEX job_expires_at_idx ON job (expires_at) WHERE ((purged_at IS NULL) AND (expires_at IS NOT NULL));
CREATE INDEX job_idempotency_key_idx ON job (account_id, route, idempotency_key, created_at DESC) WHERE (idempotency_key IS NOT NULL);
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
