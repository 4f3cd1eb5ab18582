"""E-mails: accounts named by them on the command line, and given them."""

from uuid import UUID

from psycopg.errors import UniqueViolation

from pipeline.database import Database
from pipeline.errors import Conflict, NotFound
from pipeline.sign_in import Owner, find_owner, find_owner_by_id, read_email, set_email
from scripts.identifiers import find_id


def find_account(database: Database, text: str) -> Owner:
    """Return the account with an e-mail, an id, the beginning of one, or a name. Raises NotFound, InvalidRequest."""
    statement = find_owner(read_email(text)) if "@" in text else find_owner_by_id(find_id(database, "account", text))
    found = database.run(statement)
    if found is None:
        raise NotFound(f"There is no account {text}. `pressroom accounts list` shows them.")
    return found


def give_email(database: Database, account_id: UUID, email: str) -> None:
    """Give an account an e-mail. Raises Conflict where another has it."""
    try:
        database.run(set_email(account_id, email))
    except UniqueViolation as error:
        raise email_taken(email) from error


def email_taken(email: str) -> Conflict:
    """Return the refusal of an e-mail that another account has."""
    return Conflict(f"Another account has the e-mail {email}. `pressroom accounts list` shows them.")
