"""Filling: databases with the history of months, written by SQL; a made one is a template that stays as it is."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import psycopg

from pipeline.database import Database
from pipeline.lifecycle import SCHEMA
from pipeline.lifecycle.migrations import migrate
from pipeline.settings import RetentionSettings
from pipeline.usage.usage_days import sum_usage
from scripts.system.embedded.roles import OWNER, ROLE

#: The account that everything grows of, one beside it, and their keys; the same in each database.
ACCOUNT, NEIGHBOUR = UUID(int=1), UUID(int=2)
KEYS = tuple(UUID(int=number) for number in (11, 12, 13))
NEIGHBOURS_KEY = UUID(int=21)
#: How long a job's summary is kept, over which the finished ones are spread; the results of the newest third are there.
KEPT_DAYS = RetentionSettings().summary_days
RESULTS_DAYS = KEPT_DAYS / 3
#: A neighbour's waiting items, so that there is always something to claim.
NEIGHBOURS_OPEN = 100
#: Credits that nobody uses up.
PLENTY = 10**9


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """How many finished and open jobs an account has, of one item each."""

    finished: int
    open: int

    def __str__(self) -> str:
        return f"{_short(self.finished)} + {_short(self.open)}"

    @property
    def database(self) -> str:
        """The database's name."""
        return f"growth_{self.finished}_{self.open}"


def _short(number: int) -> str:
    return f"{number // 10**6}M" if number >= 10**6 else f"{number // 1_000}k" if number >= 1_000 else str(number)


def ready_url(server: str, size: Size) -> str:
    """Return the URL of a size's database."""
    return urlunsplit(urlsplit(server)._replace(path=f"/{size.database}"))


def fill(server: str, size: Size) -> None:
    """Make the database of a size, unless it is there, and bring it to this version."""
    with psycopg.connect(server, user=OWNER, autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [size.database]).fetchone() is None:
            _make(connection, server, size)
    migrate(ready_url(server, size))
    with Database(ready_url(server, size)) as database:
        sum_usage(database)  # as a sweep has done all the time
    with psycopg.connect(ready_url(server, size), autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def _make(connection: psycopg.Connection, server: str, size: Size) -> None:
    unfinished = f"{size.database}_unfinished"
    connection.execute(f"DROP DATABASE IF EXISTS {unfinished}")
    connection.execute(f"CREATE DATABASE {unfinished} OWNER {ROLE}")
    url = urlunsplit(urlsplit(server)._replace(path=f"/{unfinished}"))
    migrate(url)
    with psycopg.connect(url) as filled:
        _write(filled, size)
    connection.execute(f"ALTER DATABASE {unfinished} RENAME TO {size.database}")


def _write(connection: psycopg.Connection, size: Size) -> None:
    connection.execute(_PAYERS, {"account": ACCOUNT, "neighbour": NEIGHBOUR, "credits": PLENTY})
    for number, key in enumerate((*KEYS, NEIGHBOURS_KEY)):
        account = ACCOUNT if key in KEYS else NEIGHBOUR
        connection.execute(_KEY, {"key": key, "account": account, "name": f"key {number}", "number": str(number)})
    kept = {"kept": timedelta(days=KEPT_DAYS), "results": timedelta(days=RESULTS_DAYS)}
    connection.execute(_FINISHED, {"account": ACCOUNT, "keys": list(KEYS), "count": size.finished, **kept})
    for account, keys, count in ((ACCOUNT, list(KEYS), size.open), (NEIGHBOUR, [NEIGHBOURS_KEY], NEIGHBOURS_OPEN)):
        connection.execute(_OPEN, {"account": account, "keys": keys, "count": count})
    connection.execute(_BALANCES)
    connection.execute(_COUNTERS)


_PAYERS = """
WITH made AS (
    INSERT INTO account (id, name, tier, available) VALUES
        (%(account)s, 'growing', 'enterprise', 0), (%(neighbour)s, 'neighbour', 'pro', 0) RETURNING id)
INSERT INTO credit_entry (account_id, entry, available_change, held_change) SELECT id, 'grant', %(credits)s, 0 FROM made
"""
_KEY = """
INSERT INTO api_key (id, account_id, name, hash, hint)
VALUES (%(key)s, %(account)s, %(name)s, sha256(convert_to(%(number)s, 'UTF8')), 'last')
"""

#: Kinds with their routes: of a thousand jobs, how many each has. Two are rare.
_KIND = """
CROSS JOIN LATERAL (SELECT n %% 1000 AS place) p
CROSS JOIN LATERAL (SELECT CASE WHEN place < 500 THEN 'speech' WHEN place < 800 THEN 'alt_text'
    WHEN place < 950 THEN 'speech_batch' WHEN place < 999 THEN 'transcription' ELSE 'blog_metadata' END AS kind) k
CROSS JOIN LATERAL (SELECT CASE kind WHEN 'speech' THEN '/tts' WHEN 'alt_text' THEN '/generate'
    WHEN 'speech_batch' THEN '/tts/batch' WHEN 'transcription' THEN '/tts/stt' ELSE '/blog/metadata' END AS route) r
"""
#: 300 characters that compress no better than a text does.
_TEXT = "(SELECT string_agg(md5(n || '.' || part), ' ') FROM generate_series(1, 9) part)"

_FINISHED = f"""
WITH wanted AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, n, kind, route, (%(keys)s::uuid[])[n %% 3 + 1] AS key,
           now() - %(kept)s::interval * (%(count)s - n + 0.5) / %(count)s AS created_at,
           now() - %(kept)s::interval * (%(count)s - n + 0.5) / %(count)s < now() - %(results)s::interval AS is_purged,
           CASE WHEN n %% 97 = 0 THEN 'failed' WHEN n %% 101 = 0 THEN 'expired' WHEN n %% 103 = 0 THEN 'cancelled'
                ELSE 'succeeded' END AS state
    FROM generate_series(1, %(count)s) n {_KIND}
), jobs AS (
    INSERT INTO job (id, account_id, api_key_id, kind, route, request, request_id, items_total, items_ok, items_failed,
                     credits_held, credits_captured, engine, idempotency_key, request_hash, keep_for, deadline, state,
                     created_at, started_at, finished_at, expires_at, purged_at, error)
    SELECT id, %(account)s, key, kind, route,
           CASE WHEN is_purged THEN '{{}}'::jsonb ELSE jsonb_build_object('voice', 'en-US', 'format', 'mp3') END,
           'request-' || n, 1, (state = 'succeeded')::int, (state = 'failed')::int, 1, (state = 'succeeded')::int,
           'espeak', CASE WHEN n %% 2 = 0 THEN 'idempotency-' || n END, sha256(n::text::bytea), %(results)s,
           created_at + interval '1 day', state, created_at, created_at + interval '1 s',
           created_at + interval '2 s', created_at + %(results)s::interval,
           CASE WHEN is_purged THEN created_at + %(results)s::interval END,
           CASE WHEN state <> 'succeeded' THEN jsonb_build_object('status', 502, 'error', 'Bad Gateway',
               'code', 'engine_failed', 'message', 'The engine gave up.') END
    FROM wanted ORDER BY n
), items AS (
    INSERT INTO item (job_id, index, kind, lane, round, state, price, captured, input, output, created_at, updated_at)
    SELECT id, 0, kind, kind, 0,
           CASE state WHEN 'succeeded' THEN 'done' WHEN 'failed' THEN 'failed' ELSE 'cancelled' END,
           1, (state = 'succeeded')::int, jsonb_build_object('text', {_TEXT}),
           CASE WHEN state = 'succeeded' THEN jsonb_build_object('artifact', 'artifacts/' || id, 'seconds', 12.5) END,
           created_at, created_at
    FROM wanted WHERE NOT is_purged ORDER BY n
)
INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change, created_at)
SELECT %(account)s, key, id, route, entry, available_change, held_change, at
FROM wanted CROSS JOIN LATERAL (VALUES
    ('hold', -1, 1, created_at),
    (CASE state WHEN 'succeeded' THEN 'capture' ELSE 'release' END, (state <> 'succeeded')::int, -1,
     created_at + interval '2 s')) e (entry, available_change, held_change, at)
ORDER BY n, at
"""

_OPEN = f"""
WITH wanted AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, n, kind, route, (%(keys)s::uuid[])[n %% cardinality(%(keys)s::uuid[]) + 1] AS key,
           now() - (%(count)s - n) * interval '1 h' / %(count)s AS created_at
    FROM generate_series(1, %(count)s) n {_KIND}
), jobs AS (
    INSERT INTO job (id, account_id, api_key_id, kind, route, request, request_id, items_total, credits_held,
                     request_hash, keep_for, deadline, created_at)
    SELECT id, %(account)s, key, kind, route, jsonb_build_object('voice', 'en-US'), 'open-' || n, 1, 1,
           sha256(n::text::bytea), interval '1 day', now() + interval '1000 days', created_at
    FROM wanted ORDER BY n
), items AS (
    INSERT INTO item (job_id, index, kind, lane, round, price, input, created_at, updated_at)
    SELECT id, 0, kind, kind, n / 10, 1, jsonb_build_object('text', {_TEXT}), created_at, created_at
    FROM wanted ORDER BY n
)
INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change, created_at)
SELECT %(account)s, key, id, route, 'hold', -1, 1, created_at FROM wanted ORDER BY n
"""
_BALANCES = """
UPDATE account a SET available = (SELECT sum(available_change) FROM credit_entry e WHERE e.account_id = a.id)
"""
_COUNTERS = f"SELECT {SCHEMA}.count_open(a.id) FROM account a"
