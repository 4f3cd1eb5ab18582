"""Loading: the rows of a dump, read into tables that our own migrations make.

A dump can hold any SQL, such as a CHECK that calls a function or COPY … TO PROGRAM. So none of it reaches the database:
pg_restore writes it out as text, and only rows and the positions of sequences are taken from that."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from pipeline.errors import NotReady
from pipeline.lifecycle.migrations import new_tables
from scripts.backup.database import find_program

COPY = re.compile(rb'COPY public\."?(\w+)"? \(([\w", ]+)\) FROM stdin;\n')
SETVAL = re.compile(rb"SELECT pg_catalog\.setval\('public\.(\w+)', (\d+), (true|false)\);\n")
END_OF_ROWS = b"\\.\n"
VERSION_TABLE = "alembic_version"
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
FOREIGN_KEYS = (
    "SELECT r.relname, c.conname FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid"
    " WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace"
)
SET_SEQUENCE = "SELECT setval(s, %s, %s) FROM to_regclass(%s) s WHERE s IS NOT NULL"


def load(url: str, dump: Path) -> None:
    """Make the tables that a dump was of and fill them, wholly or not at all. Raises NotReady."""
    with new_tables(url, _revision(dump)) as connection:
        keys = connection.execute(FOREIGN_KEYS).fetchall()
        for table, key in keys:  # the dump has its tables in any order
            _alter(connection, table, key, "DEFERRABLE INITIALLY DEFERRED")
        try:
            _fill(connection, _script(dump))
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError) as error:
            reason = str(error).partition("\n")[0]
            raise NotReady(f"The backup has rows that Pressroom's tables refuse: {reason}.") from error
        for table, key in keys:
            _alter(connection, table, key, "NOT DEFERRABLE")


def _revision(dump: Path) -> str:
    """Return the last migration of the database that was dumped."""
    lines = _script(dump, f"--table={VERSION_TABLE}")
    rows = [row for line in lines if COPY.fullmatch(line) for row in _rows(lines)]
    if len(rows) != 1:
        raise NotReady("The backup's database is not Pressroom's: it names no migration.")
    return rows[0].decode(errors="replace").strip()


def _fill(connection: psycopg.Connection[Any], lines: Iterator[bytes]) -> None:
    known = {name for (name,) in connection.execute(TABLES)}
    for line in lines:
        if found := SETVAL.fullmatch(line):
            sequence, value, is_called = (part.decode() for part in found.groups())
            connection.execute(SET_SEQUENCE, [int(value), is_called == "true", f"public.{sequence}"])
        elif found := COPY.fullmatch(line):
            table, columns = found[1].decode(), found[2].decode().replace('"', "").split(", ")
            if table not in known:
                sys.stderr.write(f"left out the table {table}, which is none of Pressroom's\n")
            elif table != VERSION_TABLE:
                _copy(connection, table, columns, _rows(lines))
                continue
            for _ in _rows(lines):
                pass


def _copy(connection: psycopg.Connection[Any], table: str, columns: list[str], rows: Iterator[bytes]) -> None:
    name = Identifier("public", table)
    connection.execute(SQL("DELETE FROM {}").format(name))  # a migration may have made a row
    statement = SQL("COPY {} ({}) FROM STDIN").format(name, SQL(", ").join(map(Identifier, columns)))
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write(row)


def _rows(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines up to the one that ends a table's rows."""
    return iter(lambda: next(lines, END_OF_ROWS), END_OF_ROWS)


def _alter(connection: psycopg.Connection[Any], table: str, key: str, how: str) -> None:
    statement = SQL("ALTER TABLE {} ALTER CONSTRAINT {} ").format(Identifier("public", table), Identifier(key))
    connection.execute(statement + SQL(how))


def _script(dump: Path, *options: str) -> Iterator[bytes]:
    """Yield the lines of a dump's data as SQL, which is read here and never run. Raises NotReady for no dump."""
    command = [find_program("pg_restore"), "--data-only", *options, "--file=-", str(dump)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield from process.stdout or ()
        said = process.stderr.read() if process.stderr else b""
    if process.returncode:
        raise NotReady(f"pg_restore failed: {said.decode(errors='replace').strip()}")
