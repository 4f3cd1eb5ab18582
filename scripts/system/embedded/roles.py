"""Roles: the everyday role of the embedded PostgreSQL, and what it takes over from a superuser of earlier releases."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the server's launcher imports this module, and does without
    import psycopg

OWNER = "pressroom"  # the superuser, which makes the database of this name
#: The everyday role, which owns the database and is no superuser: its SQL reads no files and runs no programs.
ROLE = "pressroom_service"

#: Everything that the superuser owns in a database; sequences of columns follow their tables.
OWNED = """
WITH ours AS (
    SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
), superuser AS (SELECT oid FROM pg_roles WHERE rolname = %(superuser)s)
SELECT 'SCHEMA', quote_ident(nspname) FROM ours JOIN superuser s ON s.oid = nspowner
UNION ALL
SELECT 'TABLE', c.oid::regclass::text FROM pg_class c JOIN ours n ON n.oid = c.relnamespace
JOIN superuser s ON s.oid = c.relowner WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
UNION ALL
SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p JOIN ours n ON n.oid = p.pronamespace
JOIN superuser s ON s.oid = p.proowner
UNION ALL
SELECT 'DATABASE', quote_ident(datname) FROM pg_database JOIN superuser s ON s.oid = datdba
WHERE datname = current_database()
"""


def make_role(connection: "psycopg.Connection[Any]") -> None:
    """Make the everyday role, unless it is there; it sees the server's settings, and all transactions."""
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
        connection.execute(f"CREATE ROLE {ROLE} LOGIN IN ROLE pg_monitor")


def hand_over(connection: "psycopg.Connection[Any]") -> None:
    """Give all that the superuser has in a database to the everyday role, in one transaction.

    Earlier releases worked as the superuser, and one that somebody goes back to still does."""
    for kind, name in connection.execute(OWNED, {"superuser": OWNER}).fetchall():
        connection.execute(f"ALTER {kind} {name} OWNER TO {ROLE}")
