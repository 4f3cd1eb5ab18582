"""Payers: accounts with a key and credits, for tests."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from pipeline import lifecycle
from pipeline.accounts.keys import make_key
from pipeline.accounts.ledger import Discrepancy, discrepancies
from pipeline.accounts.sessions import find_owner
from pipeline.database import Database, Statement


@dataclass(frozen=True)
class Payer:
    """An account, and a key of it."""

    account_id: UUID
    api_key_id: UUID
    api_key: str


def open_account(database: Database, *, credits: int = 1_000, tier: str = "enterprise", name: str = "Tester") -> Payer:
    """Make an account with a key and credits."""
    key = make_key()
    payer = Payer(uuid4(), key.id, key.secret)
    database.run(
        lifecycle.open_account(
            payer.account_id, name, tier, credits, key_id=key.id, key_name="test", key_hash=key.hash, hint=key.hint
        )
    )
    return payer


def owner_of(database: Database, payer: Payer) -> UUID:
    """Return the id of the account's owner."""
    owner = database.run(find_owner(payer.account_id))
    assert owner
    return owner.id


def add_person(database: Database, payer: Payer, role: str, email: str | None = None) -> UUID:
    """Put a new person into an account; return their id."""
    person = {"id": uuid4(), "account": payer.account_id, "role": role, "email": email}
    made = "INSERT INTO person (id, name, email) VALUES (%(id)s, %(role)s, %(email)s) RETURNING id"
    joined = "INSERT INTO membership (account_id, person_id, role) VALUES (%(account)s, %(id)s, %(role)s) RETURNING 1"
    database.run_together([Statement(made, person), Statement(joined, person)])
    return person["id"]


def discrepancies_of(database: Database, payer: Payer) -> list[Discrepancy]:
    """Return what contradicts itself of an account and its jobs: in a shared database others write rows by hand."""
    jobs = Statement(
        "SELECT id FROM job WHERE account_id = %(account)s", {"account": payer.account_id}, lambda rows: rows
    )
    own = [str(payer.account_id), *(str(row["id"]) for row in database.run(jobs))]
    return [one for one in database.run(discrepancies()) if any(name in one.row for name in own)]


def balance(database: Database, payer: Payer) -> int:
    """Return what an account can spend."""
    read: Statement[int] = Statement(
        "SELECT available FROM account WHERE id = %(account)s",
        {"account": payer.account_id},
        lambda rows: rows[0]["available"],
    )
    return database.run(read)
