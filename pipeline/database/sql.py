"""SQL: statements composed of fragments, so that no value becomes part of a statement's text.

Write `SQL("SELECT {columns} FROM job j").format(columns=COLUMNS)` where an f-string would be an injection waiting to
happen; ruff's S608 refuses those. Compose at import where you can: the text is then ready, and its plan is cached."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from psycopg import sql

Shape = TypeVar("Shape")
Row = dict[str, Any]


class SQL(str):
    """A fragment of SQL that this code has written. Values that a user sends are a statement's parameters."""

    __slots__ = ()

    def format(self, *parts: object, **named: object) -> "SQL":
        """Fill the places in braces. A fragment goes in as it is, anything else as a quoted literal."""
        return SQL(super().format(*map(_text, parts), **{name: _text(part) for name, part in named.items()}))

    def join(self, parts: Iterable[str], /) -> "SQL":
        """Return parts with this between them. A fragment goes in as it is, anything else as a quoted literal."""
        return SQL(super().join(map(_text, parts)))


def _text(part: object) -> str:
    if type(part) is int:  # psycopg would look into numpy first
        return str(part)
    return part if isinstance(part, SQL) else sql.Literal(part).as_string()


def columns(names: Iterable[str], *, table: str | None = None) -> SQL:
    """Return a list of columns, quoted: all of one table if it is named."""
    return SQL(", ").join(identifier(*filter(None, (table, name))) for name in names)


def assignments(names: Iterable[str]) -> SQL:
    """Return the SET clause that gives each column the parameter of its name."""
    return SQL(", ").join(SQL("{} = {}").format(identifier(name), SQL(f"%({name})s")) for name in names)


def identifier(*names: str) -> SQL:
    """Return a quoted name: of a column, or of its table and the column."""
    return SQL(sql.Identifier(*names).as_string())


def rows_of(shape: Callable[..., Shape]) -> Callable[[list[Row]], list[Shape]]:
    """Return a reader of all rows, each by its columns."""
    return lambda rows: [shape(**row) for row in rows]


def row_of(shape: Callable[..., Shape]) -> Callable[[list[Row]], Shape | None]:
    """Return a reader of the first row by its columns, or None."""
    return lambda rows: shape(**rows[0]) if rows else None


def nothing(_: list[Row]) -> None:
    """Read no row."""


def page_of(page: SQL, *, total: SQL, order: SQL) -> SQL:
    """Return the query of a page and its total.

    `page` is a query with an `id`, `total` what comes after FROM in the query of all, `order` sorts rows of `p`."""
    return SQL(
        "SELECT p.*, t.total FROM (SELECT count(*) AS total FROM {total}) t LEFT JOIN ({page}) p ON true"
        " ORDER BY {order}"
    ).format(page=page, total=total, order=order)


def read_page(read: Callable[..., Shape]) -> Callable[[list[Row]], tuple[list[Shape], int]]:
    """Return a reader of the rows of `page_of`: each by its columns, and the total."""

    def read_rows(rows: list[Row]) -> tuple[list[Shape], int]:
        totals = [row.pop("total") for row in rows]
        return [read(**row) for row in rows if row["id"] is not None], int(totals[0])

    return read_rows
