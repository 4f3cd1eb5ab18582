"""Names that both halves of the raw path use."""

QUEUE = "raw"
ACTOR = "finish"
CHANNEL = "raw:ended"
TABLE = """
CREATE TABLE IF NOT EXISTS raw_job (
    id uuid PRIMARY KEY,
    state text NOT NULL DEFAULT 'queued',
    request jsonb NOT NULL,
    result jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
)"""
INSERT = "INSERT INTO raw_job (id, request) VALUES (%s, %s)"
FINISH = "UPDATE raw_job SET state = 'done', result = %s, finished_at = now() WHERE id = %s AND state = 'queued'"
