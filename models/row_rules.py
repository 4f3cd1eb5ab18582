"""Rules of a row that one function checks: PostgreSQL reads a CHECK's expression anew for each statement that writes.

So each CHECK of its own costs a statement some 3 us. One that calls a function costs that once for all rules, since a
session keeps the function ready (docs/decisions/0048-one-check-for-a-busy-table.md)."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import CheckConstraint, Connection, MetaData, event
from sqlmodel import SQLModel


def row_rules(table: str, columns: Mapping[str, str], *rules: str) -> CheckConstraint:
    """Return the CHECK that a table's rows hold to all rules, in SQL; `columns` are those they name, with their types.

    As with a CHECK of its own, a rule that comes out as null is not broken. The function is made with the tables where
    they are made from the models; a migration makes it by itself."""
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
