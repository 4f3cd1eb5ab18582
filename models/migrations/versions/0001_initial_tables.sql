-- The first tables. Changes to them are in the migrations that follow.

CREATE TABLE account (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    name VARCHAR NOT NULL,
    tier VARCHAR NOT NULL,
    available BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT account_tier_check CHECK (tier IN ('free', 'pro', 'enterprise')),
    CONSTRAINT account_available_check CHECK (available >= 0)
)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

CREATE TABLE offer (
    family VARCHAR NOT NULL,
    engine VARCHAR NOT NULL,
    ready BOOLEAN NOT NULL,
    needs VARCHAR,
    content JSONB NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (family, engine)
);

CREATE TABLE api_key (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    account_id UUID NOT NULL,
    name VARCHAR NOT NULL,
    hash BYTEA NOT NULL,
    hint VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES account (id)
);

CREATE INDEX api_key_account_id_idx ON api_key (account_id);

CREATE UNIQUE INDEX api_key_hash_key ON api_key (hash);

CREATE TABLE credit_entry (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id UUID NOT NULL,
    api_key_id UUID,
    job_id UUID,
    route VARCHAR,
    entry VARCHAR NOT NULL,
    available_change BIGINT NOT NULL,
    held_change BIGINT NOT NULL,
    note VARCHAR,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT credit_entry_entry_check CHECK (entry IN ('grant', 'hold', 'raise', 'capture', 'release'))
);

CREATE INDEX credit_entry_account_id_idx ON credit_entry (account_id, created_at);

CREATE UNIQUE INDEX credit_entry_once_a_job ON credit_entry (job_id, entry) WHERE job_id IS NOT NULL AND entry <> 'raise';

CREATE TABLE job (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    api_key_id UUID NOT NULL,
    kind VARCHAR NOT NULL,
    route VARCHAR NOT NULL,
    source VARCHAR,
    request JSONB NOT NULL,
    request_id VARCHAR NOT NULL,
    state VARCHAR DEFAULT 'queued' NOT NULL,
    items_total INTEGER NOT NULL,
    items_ok INTEGER DEFAULT 0 NOT NULL,
    items_failed INTEGER DEFAULT 0 NOT NULL,
    credits_held INTEGER NOT NULL,
    credits_captured INTEGER DEFAULT 0 NOT NULL,
    engine VARCHAR,
    idempotency_key VARCHAR,
    request_hash BYTEA NOT NULL,
    keep_for INTERVAL NOT NULL,
    deadline TIMESTAMP WITH TIME ZONE NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE,
    purged_at TIMESTAMP WITH TIME ZONE,
    error JSONB,
    PRIMARY KEY (id),
    CONSTRAINT job_finished_check CHECK ((state IN ('queued', 'running')) = (finished_at IS NULL)),
    CONSTRAINT job_state_check CHECK (state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'expired')),
    CONSTRAINT job_credits_check CHECK (credits_captured BETWEEN 0 AND credits_held),
    CONSTRAINT job_items_check CHECK (items_ok + items_failed <= items_total)
)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

CREATE INDEX job_account_id_created_at_idx ON job (account_id, created_at DESC);

CREATE INDEX job_deadline_idx ON job (deadline) WHERE finished_at IS NULL;

CREATE INDEX job_expires_at_idx ON job (expires_at) WHERE purged_at IS NULL AND expires_at IS NOT NULL;

CREATE INDEX job_idempotency_key_idx ON job (account_id, route, idempotency_key, created_at DESC) WHERE idempotency_key IS NOT NULL;

CREATE INDEX job_purged_idx ON job (finished_at) WHERE purged_at IS NOT NULL;

CREATE INDEX job_open_idx ON job (account_id) WHERE finished_at IS NULL;

CREATE INDEX job_request_id_idx ON job (request_id);

CREATE TABLE item (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    public_id UUID DEFAULT gen_random_uuid() NOT NULL,
    job_id UUID NOT NULL,
    index INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    round BIGINT NOT NULL,
    state VARCHAR DEFAULT 'ready' NOT NULL,
    run_at TIMESTAMP WITH TIME ZONE,
    lease_id UUID,
    lease_until TIMESTAMP WITH TIME ZONE,
    attempts INTEGER DEFAULT 0 NOT NULL,
    crashes INTEGER DEFAULT 0 NOT NULL,
    price INTEGER NOT NULL,
    captured INTEGER DEFAULT 0 NOT NULL,
    progress JSONB,
    checkpoint JSONB,
    input JSONB NOT NULL,
    output JSONB,
    error JSONB,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT item_leased_check CHECK (state <> 'leased' OR (lease_id IS NOT NULL AND lease_until IS NOT NULL)),
    CONSTRAINT item_waiting_check CHECK (state <> 'waiting' OR run_at IS NOT NULL),
    CONSTRAINT item_state_check CHECK (state IN ('waiting', 'ready', 'leased', 'done', 'failed', 'cancelled')),
    CONSTRAINT item_captured_check CHECK (captured BETWEEN 0 AND price)
)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

CREATE UNIQUE INDEX item_job_id_index_key ON item (job_id, index);

CREATE INDEX item_leased_idx ON item (lease_id) WHERE state = 'leased';

CREATE INDEX item_ready_oldest_idx ON item (kind, created_at, id) WHERE state = 'ready';

CREATE INDEX item_ready_round_idx ON item (kind, round, id) WHERE state = 'ready';

CREATE INDEX item_waiting_idx ON item (run_at) WHERE state = 'waiting';

