"""Column types that several tables share."""

from typing import Any

from sqlalchemy import Column, DateTime, text
from sqlalchemy.dialects.postgresql import JSONB


def one_of(column: str, values: tuple[str, ...]) -> str:
    """Return the CHECK expression that a text column holds one of the values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({listed})"


def moment(*, now: bool = False, nullable: bool = False) -> Column[Any]:
    """Return a column for a point in time; `now` makes the database's clock its default."""
    default = text("now()") if now else None
    return Column(DateTime(timezone=True), server_default=default, nullable=nullable)


def document(*, nullable: bool = True) -> Column[Any]:
    """Return a JSONB column; null stands for SQL NULL, never for JSON null."""
    return Column(JSONB(none_as_null=True), nullable=nullable)


#: Rows that are updated often keep room for the new version in their page (HOT updates), and are vacuumed early.
BUSY_TABLE = {"fillfactor": "70", "autovacuum_vacuum_scale_factor": "0.01", "autovacuum_analyze_scale_factor": "0.02"}
