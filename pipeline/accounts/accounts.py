"""Accounts: opening one, with its first key, and locking one."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from pipeline import lifecycle
from pipeline.accounts.first_account import FirstAccount
from pipeline.accounts.keys import NewKey, make_key
from pipeline.accounts.sessions import make_token
from pipeline.accounts.sign_in import add_link, set_operator
from pipeline.database import Database, Statement, nothing
from pipeline.settings import LimitSettings, TierLimits

#: Tiers are what limits are set for; `models.accounts` has the same for its CHECK.
TIERS = tuple(name for name, field in LimitSettings.model_fields.items() if field.annotation is TierLimits)
#: Credits of a fresh system's first account.
FIRST_CREDITS = 10_000


@dataclass(frozen=True, slots=True)
class OpenedAccount:
    """A new account; its key is shown once."""

    id: UUID
    key: NewKey

    @property
    def owner_id(self) -> UUID:
        """The first owner's id: the account's."""
        return self.id


def open_account(database: Database, *, name: str, tier: str, credits: int, key_name: str = "first") -> OpenedAccount:
    """Make an account with a key and an opening balance."""
    opened, opening = new_account(name=name, tier=tier, credits=credits, key_name=key_name)
    database.run(opening)
    return opened


def new_account(
    *, name: str, tier: str, credits: int, key_name: str = "first"
) -> tuple[OpenedAccount, Statement[None]]:
    """Return an account with an owner, a key and an opening balance, and what makes it."""
    key = make_key()
    opened = OpenedAccount(uuid4(), key)
    opening = lifecycle.open_account(
        opened.id, name, tier, credits, key_id=key.id, key_name=key_name, key_hash=key.hash, hint=key.hint
    )
    return opened, opening


def create_first_account(
    database: Database, keep: Callable[[FirstAccount], None], *, link_lasts: timedelta
) -> FirstAccount | None:
    """Make a first account, an operator's, when there is none; return None when there is one already.

    Before the account is made, `keep` is called with its key and its link: wherever the process dies, no account is
    left whose key nobody has."""
    has_account = Statement("SELECT EXISTS (SELECT FROM account) AS found", {}, lambda rows: bool(rows[0]["found"]))
    if database.run(has_account):
        return None
    opened, opening = new_account(name="first", tier="enterprise", credits=FIRST_CREDITS)
    token = make_token()
    first = FirstAccount(opened.key.secret, token)
    keep(first)
    database.run_together(
        [opening, set_operator(opened.id, is_operator=True), add_link(opened.id, token, lasts=link_lasts)]
    )
    return first


def lock_account(account_id: UUID) -> Statement[None]:
    """Lock an account, for the statements that follow in the transaction, so that no other counts what it has."""
    return Statement(
        "SELECT id FROM account WHERE id = %(account)s FOR NO KEY UPDATE", {"account": account_id}, nothing
    )
