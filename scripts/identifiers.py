"""Identifiers: accounts, keys and jobs on the command line, given by id, its first digits, name or e-mail."""

from typing import Any, Literal
from uuid import UUID

from pipeline.accounts import sessions
from pipeline.accounts.sessions import Person, find_owner, read_email
from pipeline.database import SQL, Database, Row, Statement
from pipeline.errors import InvalidRequest, NotFound

Table = Literal["account", "api_key", "job"]

#: The user's word for a row of each table, and the command that lists them.
_CALLED: dict[Table, tuple[str, str]] = {
    "account": ("account", "`pressroom accounts list` shows them."),
    "api_key": ("key", "`pressroom keys list ACCOUNT` shows them."),
    "job": ("job", "`pressroom jobs list` shows them."),
}
#: Tables whose rows have names of their own.
_NAMED: frozenset[Table] = frozenset({"account", "api_key"})
#: Fewest digits that stand for an id.
SHORTEST = 4
#: Hexadecimal digits of an id.
DIGITS = 32


def find_id(database: Database, table: Table, text: str) -> UUID:
    """Return the id that a text means. A whole id is not looked up. Raises NotFound, InvalidRequest."""
    span = _span(text)
    if span is not None and span[0] == span[1]:
        return span[0]
    if span is None and table not in _NAMED:
        raise InvalidRequest(
            f"{text!r} is not an id: ids look like 123e4567-e89b-12d3-a456-426614174000, "
            f"and their first {SHORTEST} digits or more will do."
        )
    found = database.run(_candidates(table, text, span))
    if not found:
        raise not_found(table, text)
    if len(found) > 1:
        raise InvalidRequest(f"{text} could be {' or '.join(map(str, found))}: write more of the id.")
    return found[0]


def find_account(database: Database, text: str | None) -> UUID:
    """Return the id of an account that exists, given its e-mail, id or name; None: the only one.

    Raises NotFound, InvalidRequest."""
    if text is None:
        only = database.run(Statement("SELECT id FROM account LIMIT 2", {}, _ids))
        if len(only) != 1:
            raise InvalidRequest("Choose the account with --account; `pressroom accounts list` shows them.")
        return only[0]
    found = database.run(_accounts(read_email(text) if "@" in text else find_id(database, "account", text)))
    if not found:
        raise not_found("account", text)
    if len(found) > 1:
        raise InvalidRequest(f"{text} is in several accounts. Name one of them: {' or '.join(map(str, found))}.")
    return found[0]


def find_person(database: Database, text: str) -> Person:
    """Return a person by e-mail, or an account's first owner by its id or name. Raises NotFound, InvalidRequest."""
    by_email = "@" in text
    statement = sessions.find_person(read_email(text)) if by_email else find_owner(find_id(database, "account", text))
    found = database.run(statement)
    if found is None:
        raise not_found("account", text)
    return found


def not_found(table: Table, text: str) -> NotFound:
    """Return the error for a text that names no row."""
    called, listed = _CALLED[table]
    return NotFound(f"There is no {called} {text}. {listed}")


def _span(text: str) -> tuple[UUID, UUID] | None:
    """Return the first and the last id that begin with a text; None if no id does."""
    digits = text.strip().replace("-", "").lower()
    if not SHORTEST <= len(digits) <= DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    return UUID(digits.ljust(DIGITS, "0")), UUID(digits.ljust(DIGITS, "f"))


def _candidates(table: Table, text: str, span: tuple[UUID, UUID] | None) -> Statement[list[UUID]]:
    """Read up to two ids, to detect ambiguity. A beginning is a range, which the primary key finds at once."""
    first, last = span or (None, None)
    is_named = SQL("lower(name) = lower(%(name)s)") if table in _NAMED else SQL("false")
    parameters: dict[str, Any] = {"first": first, "last": last, "name": text.strip()}
    sql = SQL(
        "SELECT id FROM {table} WHERE id BETWEEN %(first)s::uuid AND %(last)s::uuid OR {is_named} ORDER BY id LIMIT 2"
    ).format(table=SQL(table), is_named=is_named)
    return Statement(sql, parameters, _ids)


def _accounts(wanted: str | UUID) -> Statement[list[UUID]]:
    """Read the ids of up to two accounts that have an id, or a person with an e-mail."""
    if isinstance(wanted, UUID):
        return Statement("SELECT id FROM account WHERE id = %(id)s", {"id": wanted}, _ids)
    return Statement(
        "SELECT m.account_id AS id FROM membership m JOIN person p ON p.id = m.person_id WHERE p.email = %(email)s"
        " ORDER BY 1 LIMIT 2",
        {"email": wanted},
        _ids,
    )


def _ids(rows: list[Row]) -> list[UUID]:
    return [row["id"] for row in rows]
