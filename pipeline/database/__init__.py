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
from pipeline.database.sql import SQL, assignments, columns, nothing, page_of, read_page, row_of, rows_of
