"""The database: statements that async and sync callers run alike, and how they share transactions."""

from pipeline.database.database import (
    AsyncDatabase,
    Database,
    DatabaseUnavailable,
    Row,
    Statement,
    Transaction,
    is_passing,
    is_refused,
)

__all__ = [
    "AsyncDatabase",
    "Database",
    "DatabaseUnavailable",
    "Row",
    "Statement",
    "Transaction",
    "is_passing",
    "is_refused",
]
