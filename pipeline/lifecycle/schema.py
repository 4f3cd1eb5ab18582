"""The schema that this version's functions live in, and how they are called."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from pipeline.database import SQL, Row, Statement

Result = TypeVar("Result")

_SOURCE = files("pipeline.lifecycle").joinpath("lifecycle.sql").read_text("utf-8")
#: The schema of this version of the functions; another text is another schema, so versions run side by side.
SCHEMA = "lifecycle_" + hashlib.sha256(_SOURCE.encode()).hexdigest()[:12]


def install_sql() -> str:
    """Return the statements that create this version's functions."""
    return f"CREATE SCHEMA {SCHEMA};\n" + _SOURCE.replace("lifecycle.", f"{SCHEMA}.")


def call(
    function: str, arguments: Mapping[str, Any], read: Callable[[list[Row]], Result], *, repeatable: bool = True
) -> Statement[Result]:
    """Return the statement that calls a function. `arguments` are in the order of its parameters."""
    return Statement(_call(function, tuple(arguments)), arguments, read, repeatable)


@cache
def _call(function: str, arguments: tuple[str, ...]) -> SQL:
    placeholders = SQL(", ").join(SQL(f"%({name})s") for name in arguments)
    return SQL("SELECT * FROM {}.{}({})").format(SQL(SCHEMA), SQL(function), placeholders)
