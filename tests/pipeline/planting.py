"""Planting: lifecycle.sql with a mistake in it, which tests must notice."""

import re
from collections.abc import Iterable

from pipeline import lifecycle

#: A function of lifecycle.sql, a text in it, and what stands there instead.
Change = tuple[str, str, str]


def planted(name: str, changes: Iterable[Change], schema: str) -> str:
    """Return the statements that install the life cycle with a mistake, as `schema`."""
    source = lifecycle.install_sql()
    for function, right, wrong in changes:
        start = source.index(f"CREATE FUNCTION {lifecycle.SCHEMA}.{function}(")
        end = start + re.search(r"\$\$ *;", source[start:]).end()
        assert right in source[start:end], f"{function} has changed: “{name}” can't be planted."
        mutated = source[start:end].replace(right, wrong.replace("lifecycle.", f"{lifecycle.SCHEMA}."))
        source = source[:start] + mutated + source[end:]
    return source.replace(lifecycle.SCHEMA, schema)
