"""What Alembic runs: migrations on the connection that `pipeline.lifecycle.migrations` hands in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
