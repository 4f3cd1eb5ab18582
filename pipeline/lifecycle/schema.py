"""Schema: the functions of this version, and whether a database has them and its tables.

Asked without SQLAlchemy and Alembic: importing them takes longer than all else that a second start does first."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from pipeline.database import SQL, Row, Statement

Result = TypeVar("Result")

_SOURCE = files("pipeline.lifecycle").joinpath("lifecycle.sql").read_text("utf-8")
#: The schema of this version of the functions; another text is another schema, so versions run side by side.
SCHEMA = "lifecycle_" + hashlib.sha256(_SOURCE.encode()).hexdigest()[:12]
#: Not found by way of `models`, which would import SQLAlchemy.
MIGRATIONS = Path(__file__).parents[2] / "models" / "migrations" / "versions"


def install_sql() -> str:
    """Return the statements that create this version's functions."""
    return f"CREATE SCHEMA {SCHEMA};\n" + _SOURCE.replace("lifecycle.", f"{SCHEMA}.")


def call(
    function: str, arguments: Mapping[str, Any], read: Callable[[list[Row]], Result], *, repeatable: bool = True
) -> Statement[Result]:
    """Return the statement that calls a function. `arguments` are in the order of its parameters."""
    return Statement(_call(function, tuple(arguments)), arguments, read, repeatable)


@cache
def _call(function: str, arguments: tuple[str, ...]) -> SQL:
    placeholders = SQL(", ").join(SQL(f"%({name})s") for name in arguments)
    return SQL("SELECT * FROM {}.{}({})").format(SQL(SCHEMA), SQL(function), placeholders)


def newest_revision() -> str:
    """Return this version's last migration: the name of each file begins with its number."""
    return max(file.stem.partition("_")[0] for file in MIGRATIONS.glob("[0-9]*.py"))


def is_up_to_date(url: str) -> bool:
    """Return whether there is nothing to migrate. Raises psycopg.OperationalError when nobody answers."""
    with psycopg.connect(url) as connection:
        known = "SELECT to_regclass('alembic_version') IS NOT NULL AND to_regnamespace(%s) IS NOT NULL"
        row = connection.execute(known, [SCHEMA]).fetchone()
        if row is None or not row[0]:
            return False
        return connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(newest_revision(),)]
