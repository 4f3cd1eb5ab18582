"""E-mails: accounts named by them on the command line, and given them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation

from pipeline.accounts.sessions import Owner, find_owner, find_owner_by_id, read_email
from pipeline.accounts.sign_in import set_email
from pipeline.database import Database, Statement
from pipeline.errors import Conflict, NotFound
from scripts.identifiers import find_id


def find_account(database: Database, text: str) -> Owner:
    """Return the account with an e-mail, an id, the beginning of one, or a name. Raises NotFound, InvalidRequest."""
    statement = find_owner(read_email(text)) if "@" in text else find_owner_by_id(find_id(database, "account", text))
    found = database.run(statement)
    if found is None:
        raise NotFound(f"There is no account {text}. `pressroom accounts list` shows them.")
    return found


def run_with_email(database: Database, account_id: UUID, email: str | None, changes: Sequence[Statement[Any]]) -> Any:
    """Make changes and give an account its e-mail, if any, in one transaction; returns what the last change returns.

    Raises Conflict where another account has the e-mail."""
    setting = [set_email(account_id, email)] if email else []
    try:
        return database.run_together([*changes, *setting])[len(changes) - 1]
    except UniqueViolation as error:
        raise email_taken(email or "") from error


def email_taken(email: str) -> Conflict:
    """Return the refusal of an e-mail that another account has."""
    return Conflict(f"Another account has the e-mail {email}. `pressroom accounts list` shows them.")
