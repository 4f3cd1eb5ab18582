"""Accounts: who uses the system: made and invited, with top-up, tier, pause and suspension."""

from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import falcon.asgi
from psycopg.errors import CheckViolation, NumericValueOutOfRange, UniqueViolation

from api.dashboard.forms import Form, read_form, ungrouped
from api.dashboard.rendering import NavigationSection, Page, drop_blanks, neighbours, redirect, render
from api.http.address import base_url
from api.http.parameters import OFFSET, text
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import SIGN_IN
from pipeline import lifecycle
from pipeline.accounts.accounts import TIERS, new_account
from pipeline.accounts.audit import Action, Actor, note, noted
from pipeline.accounts.keys import revoke_key
from pipeline.accounts.sessions import Session, make_token
from pipeline.accounts.sign_in import add_link, set_email
from pipeline.database import Statement
from pipeline.errors import Conflict, InvalidRequest, NotFound, PressroomError
from pipeline.log import get_logger
from pipeline.operations.accounts import MAX_SEARCH, PAGE_SIZE, AccountSummary, find_account, list_accounts, list_grants
from pipeline.operations.pauses import read_pauses

log = get_logger(__name__)

PAGE = Page(
    "/dashboard/operators/accounts", "Accounts", NavigationSection.OPERATORS, operators_only=True, order=5, icon="users"
)
#: Longest name of an account.
MAX_NAME = 100
#: Longest note of a grant.
MAX_NOTE = 200
#: A number of credits with more digits is a mistake; the balance is a PostgreSQL bigint.
MAX_DIGITS = 18
SEARCH = text("search", "An account's name or id.", longest=MAX_SEARCH)


class Accounts(Resource):
    """GET /dashboard/operators/accounts."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        drop_blanks(req)
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        try:
            account_id, token = await make_account(self._services, form)
        except PressroomError as error:
            redirect(req, resp, PAGE.path, error.message, "bad")
            return
        log.info("account made", account_id=str(account_id), by=str(session.account_id))
        await self._show(req, resp, invited=form.text("name"), link=link_of(self._services, req, token))

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, *, invited: str = "", link: str = ""
    ) -> None:
        search = (SEARCH.read(req) or "").strip()
        offset = OFFSET.read(req)
        found = await self._services.database.run(list_accounts(search, offset=offset))
        await render(
            req,
            resp,
            "operators/accounts.html",
            accounts=found[:PAGE_SIZE],
            search=search,
            tier_choices=[(tier, tier) for tier in TIERS],
            invited=invited,
            link=link,
            hours=self._services.settings.dashboard.sign_in_link_hours,
            **neighbours(req, offset=offset, size=PAGE_SIZE, has_more=len(found) > PAGE_SIZE),
        )


class OperatorAccountPage(Resource):
    """GET and POST /dashboard/operators/accounts/{account_id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: str) -> None:
        await self._show(req, resp, account_id)

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: str, *, link: str = ""
    ) -> None:
        account = await self._find(account_id)
        grants = await self._services.database.run(list_grants(account.id))
        paused = await self._services.database.run(read_pauses())
        session = await self._services.sessions.require_operator(req, resp)
        await render(
            req,
            resp,
            "operators/account.html",
            account=account,
            grants=grants,
            paused=paused,
            tiers=TIERS,
            is_own=account.id == session.account_id,
            link=link,
            hours=self._services.settings.dashboard.sign_in_link_hours,
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: str) -> None:
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        account = await self._find(account_id)
        if form.text("change") == "invite":
            token = make_token()
            await self._make(invite(self._services, account.id, token), account, session, "sign-in link")
            log.info("account invited", account_id=str(account.id), by=str(session.account_id))
            await self._show(req, resp, account_id, link=link_of(self._services, req, token))
            return
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
                return await self._top_up(account, form, session)
            case "tier":
                return await self._set_tier(account, form.text("tier"), session)
            case "suspend" if account.id == session.account_id:
                raise InvalidRequest("You can't suspend your own account.")
            case "suspend":
                await self._make(lifecycle.suspend_account(account.id, suspended=True), account, session, "suspended")
                return "The account is suspended. Its open jobs end within seconds."
            case "resume":
                await self._make(lifecycle.suspend_account(account.id, suspended=False), account, session, "resumed")
                return "The account is active again."
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")

    async def _top_up(self, account: AccountSummary, form: Form, session: Session) -> str:
        granted, words = read_credits(form.text("credits")), form.text("note")
        if len(words) > MAX_NOTE:
            raise InvalidRequest(f"The note has {len(words)} characters; it may have {MAX_NOTE}.")
        try:
            by = Actor(account.id, session.person_id)
            grant = lifecycle.grant_credits(account.id, granted, words or None)
            balance = await self._services.database.run(noted(grant, by, Action.CREDITS_ADDED, f"{granted:,}"))
        except CheckViolation as error:
            raise InvalidRequest(f"The account has fewer than {-granted:,} credits to take back.") from error
        except NumericValueOutOfRange as error:
            raise InvalidRequest("The balance would exceed the most that an account can have.") from error
        return f"The balance is now {balance or 0:,} credits."

    async def _set_tier(self, account: AccountSummary, tier: str, session: Session) -> str:
        if tier not in TIERS:
            raise InvalidRequest(f"There is no tier {tier[:20]!r}; choose {', '.join(TIERS)}.")
        await self._make(lifecycle.change_tier(account.id, tier), account, session, f"tier {tier}")
        return f"The account is now in the tier {tier}; its limits change within seconds."

    async def _make(self, change: Statement[bool], account: AccountSummary, session: Session, what: str) -> None:
        """Make a change, and note it in the account's own log."""
        noting = note(Actor(account.id, session.person_id), Action.ACCOUNT_CHANGED, what)
        await self._services.database.run_together([change, noting])

    async def _find(self, account_id: str) -> AccountSummary:
        """Raises NotFound."""
        with suppress(ValueError):
            if account := await self._services.database.run(find_account(UUID(account_id))):
                return account
        raise NotFound("There is no such account.", code="account_not_found")


async def make_account(services: Services, form: Form) -> tuple[UUID, str]:
    """Make the account of a form; return its id and the token of a link. Raises InvalidRequest, Conflict.

    Its owner makes keys: the first one, which nobody has seen, is revoked."""
    name, tier, email = form.text("name"), form.text("tier"), form.text("email")
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidRequest(f"The name has {len(name)} characters; it has to have 1 to {MAX_NAME}, on one line.")
    if tier not in TIERS:
        raise InvalidRequest(f"There is no tier {tier[:20]!r}; choose {', '.join(TIERS)}.")
    balance = read_credits(form.text("credits")) if form.text("credits", "0") != "0" else 0
    if balance < 0:
        raise InvalidRequest("An account can't begin with fewer than 0 credits.")
    opened, opening = new_account(name=name, tier=tier, credits=balance)
    token = make_token()
    changes: list[Statement[Any]] = [opening, revoke_key(opened.key.id), invite(services, opened.id, token)]
    try:
        await services.database.run_together([*changes, *([set_email(opened.owner_id, email)] if email else [])])
    except UniqueViolation as error:
        raise Conflict(f"Another person has the e-mail {email}.") from error
    except NumericValueOutOfRange as error:
        raise InvalidRequest("The balance would exceed the most that an account can have.") from error
    return opened.id, token


def invite(services: Services, account_id: UUID, token: str) -> Statement[bool]:
    """Keep a link that signs an account's owner in once."""
    return add_link(account_id, token, lasts=timedelta(hours=services.settings.dashboard.sign_in_link_hours))


def link_of(services: Services, req: falcon.asgi.Request, token: str) -> str:
    """Return the link of a token at the address by which the operator came, or the public one."""
    address = services.settings.api.public_url or base_url(req, services.proxies)
    return f"{address.rstrip('/')}{SIGN_IN}/link?token={token}"


RESOURCES = {PAGE.path: Accounts, f"{PAGE.path}/{{account_id}}": OperatorAccountPage}


def read_credits(text: str) -> int:
    """Return a number of credits as a person writes it, with commas or not. Raises InvalidRequest."""
    plain = ungrouped(text)
    digits = plain.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS) or not int(digits):
        raise InvalidRequest(f"{text[:30]!r} is not a number of credits: write 500, or -500 to take unspent ones back.")
    return int(plain)
