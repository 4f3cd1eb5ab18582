"""A database that one test after another has for itself: emptying it takes a fiftieth of the time of a new one."""

from collections.abc import Callable
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

#: Larger ones are not worth emptying, and their statistics would change the plans of the next test.
MOST_GROWN_BYTES = 2 * 2**20
#: Returns the size, and what changes with each CREATE, ALTER and DROP.
STATE: LiteralString = """
SELECT pg_database_size(current_database()), (
    SELECT sum(xmin::text::bigint)::text FROM (
        SELECT xmin FROM pg_class UNION ALL SELECT xmin FROM pg_proc
        UNION ALL SELECT xmin FROM pg_namespace UNION ALL SELECT xmin FROM pg_trigger
    ) catalog
)
"""
TABLES: LiteralString = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
#: Empties all tables, and lets ids begin again.
EMPTY: LiteralString = """
DO $$
DECLARE
    v_name text;
BEGIN
    SET LOCAL session_replication_role = replica;  -- foreign keys would want an order
    FOR v_name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('DELETE FROM %I', v_name);
    END LOOP;
    PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S';
END $$
"""
CUT: LiteralString = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


class CleanDatabase:
    """Hands out one database, and a new one when a test has changed more than rows."""

    def __init__(self, make: Callable[[], str], drop: Callable[[str], None]) -> None:
        self._make, self._drop = make, drop
        self._url = ""
        self._size, self._state = 0, ""
        self._first_rows: dict[str, bytes] = {}

    def take(self) -> str:
        """Return the URL of an empty database with all tables."""
        if not self._url:
            self._url = self._make()
            with psycopg.connect(self._url, autocommit=True) as connection:
                self._size, self._state = self._look(connection)
                for (table,) in connection.execute(TABLES).fetchall():
                    with connection.cursor().copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as rows:
                        self._first_rows[table] = b"".join(rows)
        return self._url

    def give_back(self) -> None:
        """Empty it, or drop it where that is not enough."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(CUT)
            size, state = self._look(connection)
            if state == self._state and size <= self._size + MOST_GROWN_BYTES:
                connection.execute(EMPTY)
                for table, rows in self._first_rows.items():
                    if rows:
                        with connection.cursor().copy(SQL("COPY {} FROM STDIN").format(Identifier(table))) as copy:
                            copy.write(rows)
                return
        self._drop(self._url)
        self._url = ""

    @staticmethod
    def _look(connection: psycopg.Connection[tuple[int, str]]) -> tuple[int, str]:
        found = connection.execute(STATE).fetchone()
        assert found
        return found
