"""Roles: the everyday role of the embedded PostgreSQL, and what it takes over from a superuser of earlier releases."""

from typing import Any

import psycopg

from scripts.system.embedded.postgres import OWNER, ROLE

#: All that a database has; sequences of columns follow their tables.
OWNED = """
WITH ours AS (
    SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
)
SELECT 'SCHEMA', quote_ident(nspname) FROM ours WHERE nspname <> 'public'
UNION ALL
SELECT 'TABLE', c.oid::regclass::text FROM pg_class c JOIN ours n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
UNION ALL
SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p JOIN ours n ON n.oid = p.pronamespace
"""


def make_role(connection: psycopg.Connection[Any]) -> None:
    """Make the everyday role, unless it is there; it sees how long transactions of others last."""
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
    connection.execute(f"GRANT pg_read_all_stats TO {ROLE}")


def hand_over(connection: psycopg.Connection[Any]) -> None:
    """Give a database that a superuser has, with everything in it, to the everyday role, in one transaction."""
    for kind, name in connection.execute(OWNED).fetchall():
        connection.execute(f"ALTER {kind} {name} OWNER TO {ROLE}")
    connection.execute(f"ALTER DATABASE {OWNER} OWNER TO {ROLE}")
