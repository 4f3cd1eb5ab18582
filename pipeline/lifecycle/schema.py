"""The schema that this version's functions live in, and how they are called."""

import hashlib
from importlib.resources import files

_SOURCE = files("pipeline.lifecycle").joinpath("lifecycle.sql").read_text("utf-8")
#: The schema of this version of the functions; another text is another schema, so versions run side by side.
SCHEMA = "lifecycle_" + hashlib.sha256(_SOURCE.encode()).hexdigest()[:12]


def install_sql() -> str:
    """Return the statements that create this version's functions."""
    return f"CREATE SCHEMA {SCHEMA};\n" + _SOURCE.replace("lifecycle.", f"{SCHEMA}.")


def call(function: str, *parameters: str) -> str:
    """Return the SQL that calls a function with named parameters."""
    placeholders = ", ".join(f"%({name})s" for name in parameters)
    return f"SELECT * FROM {SCHEMA}.{function}({placeholders})"  # noqa: S608  names from this package alone
