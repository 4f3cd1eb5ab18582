"""Alembic migrations: additive for one release, so that old and new processes run side by side."""
