"""Accounts: who uses the system, with top-up, tier and suspension."""

from uuid import UUID

import falcon.asgi
from psycopg.errors import CheckViolation, NumericValueOutOfRange

from api.dashboard.forms import Form, read_form
from api.dashboard.page import NavigationSection, Page
from api.dashboard.rendering import redirect, render
from api.http.parameters import OFFSET, text
from api.services.resource import Resource
from pipeline import lifecycle
from pipeline.accounts.accounts import TIERS
from pipeline.accounts.sessions import Session
from pipeline.errors import InvalidRequest, NotFound, PressroomError
from pipeline.log import get_logger
from pipeline.operations.accounts import MAX_SEARCH, PAGE_SIZE, AccountSummary, find_account, list_accounts, list_grants

log = get_logger(__name__)

PAGE = Page(
    "/dashboard/operators/accounts", "Accounts", NavigationSection.OPERATORS, operators_only=True, order=5, icon="users"
)
#: Longest note of a grant.
MAX_NOTE = 200
#: A number of credits with more digits is a mistake; the balance is a PostgreSQL bigint.
MAX_DIGITS = 18
SEARCH = text("search", "An account's name or id.", longest=MAX_SEARCH)


class AccountNotFound(NotFound):
    """No account has that id."""

    code = "account_not_found"
    message = "There is no such account."


class Accounts(Resource):
    """GET /dashboard/operators/accounts."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page of accounts, newest first."""
        search = (SEARCH.read(req) or "").strip()
        offset = OFFSET.read(req)
        found = await self._services.database.run(list_accounts(search, offset=offset))
        await render(
            req,
            resp,
            "operators/accounts.html",
            accounts=found[:PAGE_SIZE],
            search=search,
            previous=max(0, offset - PAGE_SIZE) if offset else None,
            next=offset + PAGE_SIZE if len(found) > PAGE_SIZE else None,
        )

    on_head = on_get


class OperatorAccountPage(Resource):
    """GET and POST /dashboard/operators/accounts/{account_id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: str) -> None:
        """Answer with one account."""
        account = await self._find(account_id)
        grants = await self._services.database.run(list_grants(account.id))
        session = await self._services.sessions.require_operator(req, resp)
        await render(
            req,
            resp,
            "operators/account.html",
            account=account,
            grants=grants,
            tiers=TIERS,
            is_own=account.id == session.account_id,
        )

    on_head = on_get

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: str) -> None:
        """Do what one of the page's forms asks for, its button's value says which."""
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        account = await self._find(account_id)
        try:
            text = await self._change(account, form, session)
        except PressroomError as error:
            redirect(req, resp, f"{PAGE.path}/{account.id}", error.message, "bad")
            return
        log.info("account changed", account_id=str(account.id), change=form.text("change"), by=str(session.account_id))
        redirect(req, resp, f"{PAGE.path}/{account.id}", text)

    async def _change(self, account: AccountSummary, form: Form, session: Session) -> str:
        """Carry a change out; returns what was done. Raises InvalidRequest."""
        match form.text("change"):
            case "top-up":
                return await self._top_up(account, form)
            case "tier":
                return await self._set_tier(account, form.text("tier"))
            case "suspend" if account.id == session.account_id:
                raise InvalidRequest("You can't suspend your own account.")
            case "suspend":
                await self._services.database.run(lifecycle.suspend_account(account.id, suspended=True))
                return "The account is suspended. Its open jobs end within seconds."
            case "resume":
                await self._services.database.run(lifecycle.suspend_account(account.id, suspended=False))
                return "The account is active again."
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")

    async def _top_up(self, account: AccountSummary, form: Form) -> str:
        granted, note = read_credits(form.text("credits")), form.text("note")
        if len(note) > MAX_NOTE:
            raise InvalidRequest(f"The note has {len(note)} characters; it may have {MAX_NOTE}.")
        try:
            balance = await self._services.database.run(lifecycle.grant_credits(account.id, granted, note or None))
        except CheckViolation as error:
            raise InvalidRequest(f"The account has fewer than {-granted:,} credits to take back.") from error
        except NumericValueOutOfRange as error:
            raise InvalidRequest("The balance would be larger than it can be.") from error
        return f"The balance is now {balance or 0:,} credits."

    async def _set_tier(self, account: AccountSummary, tier: str) -> str:
        if tier not in TIERS:
            raise InvalidRequest(f"There is no tier {tier[:20]!r}; there is {', '.join(TIERS)}.")
        await self._services.database.run(lifecycle.change_tier(account.id, tier))
        return f"The account is now in the tier {tier}; its limits change within seconds."

    async def _find(self, account_id: str) -> AccountSummary:
        """Raises AccountNotFound."""
        try:
            account = await self._services.database.run(find_account(UUID(account_id)))
        except ValueError:
            raise AccountNotFound from None
        if account is None:
            raise AccountNotFound
        return account


RESOURCES = {PAGE.path: Accounts, f"{PAGE.path}/{{account_id}}": OperatorAccountPage}


def read_credits(text: str) -> int:
    """Return a number of credits as a person writes it, with commas or not. Raises InvalidRequest."""
    plain = text.replace(",", "").replace("_", "")
    digits = plain.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS) or not int(digits):
        raise InvalidRequest(f"{text[:30]!r} is no number of credits: write 500, or -500 to take unspent ones back.")
    return int(plain)
