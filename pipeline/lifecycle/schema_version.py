"""Schema version: whether a database has the tables and functions of this version.

Asked without SQLAlchemy and Alembic: importing them takes longer than all else that a second start does first."""

from pathlib import Path

import psycopg

from pipeline import lifecycle

#: Not found by way of `models`, which would import SQLAlchemy.
MIGRATIONS = Path(__file__).parents[2] / "models" / "migrations" / "versions"


def newest_revision() -> str:
    """Return this version's last migration: the name of each file begins with its number."""
    return max(file.stem.partition("_")[0] for file in MIGRATIONS.glob("[0-9]*.py"))


def is_up_to_date(url: str) -> bool:
    """Return whether there is nothing to migrate. Raises psycopg.OperationalError when nobody answers."""
    with psycopg.connect(url) as connection:
        known = "SELECT to_regclass('alembic_version') IS NOT NULL AND to_regnamespace(%s) IS NOT NULL"
        row = connection.execute(known, [lifecycle.SCHEMA]).fetchone()
        if row is None or not row[0]:
            return False
        return connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(newest_revision(),)]
