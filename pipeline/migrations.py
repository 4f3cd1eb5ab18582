"""Migrations: bring a database to the tables and functions of this version."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection, make_url

import models.migrations
from pipeline import lifecycle


def migrate(url: str) -> None:
    """Run all migrations and install the life cycle's functions; safe to call at once from many places."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as connection:
            # Two systems that start together: the second waits here, then finds everything done.
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('pressroom migrate'))"))
            command.upgrade(alembic_config(connection), "head")
            _install_lifecycle(connection)
    finally:
        engine.dispose()


def alembic_config(connection: Connection) -> Config:
    """Return Alembic's configuration, bound to a connection whose transaction the caller commits."""
    config = Config()
    config.set_main_option("script_location", str(Path(models.migrations.__file__).parent))
    config.attributes["connection"] = connection
    return config


def _install_lifecycle(connection: Connection) -> None:
    known = text("SELECT 1 FROM pg_namespace WHERE nspname = :schema")
    if connection.execute(known, {"schema": lifecycle.SCHEMA}).first() is None:
        connection.exec_driver_sql(lifecycle.install_sql())
