"""What Alembic runs: migrations on the connection that `pipeline.database.migrate` hands in."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection)
with context.begin_transaction():
    context.run_migrations()
