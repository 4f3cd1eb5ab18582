"""Columns and rules that several tables share."""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import CheckConstraint, Column, Connection, DateTime, MetaData, event, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import declared_attr
from sqlmodel import SQLModel


class Row(SQLModel):
    """A table that has the name of its class: `api_key` for `ApiKeyRow`."""

    @declared_attr.directive
    def __tablename__(cls) -> str:  # noqa: N805  SQLAlchemy calls it with the class
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Row")).lower()


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


def row_rules(table: str, columns: Mapping[str, str], *rules: str) -> CheckConstraint:
    """Return one CHECK for all rules of a table's rows; `columns` are those that they name, with their types.

    It calls a function: PostgreSQL reads each CHECK's expression anew for each statement that writes, some 3 us, and
    keeps a function ready (docs/decisions/0048-one-check-for-a-busy-table.md). A rule that comes out as null is not
    broken. The function is made with the tables where they are made from the models; a migration makes it by itself."""
    name = f"{table}_holds_to_rules"
    arguments = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    body = " AND ".join(f"({rule})" for rule in rules)
    function = (
        f"CREATE FUNCTION {name}({arguments}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE"
        f" AS $$ BEGIN RETURN {body}; END $$"
    )

    def create_function(_: MetaData, connection: Connection, **options: Any) -> None:
        connection.exec_driver_sql(function)

    event.listen(SQLModel.metadata, "before_create", create_function)
    return CheckConstraint(f"{name}({', '.join(columns)})", name=f"{table}_rules_check")
