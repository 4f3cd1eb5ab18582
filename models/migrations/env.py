"""Alembic's program: migrations on the connection that `pipeline.database.migrate` hands in."""

from alembic import context
from sqlmodel import SQLModel

import models  # noqa: F401  the tables register themselves

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=SQLModel.metadata, compare_server_default=True)
with context.begin_transaction():
    context.run_migrations()
