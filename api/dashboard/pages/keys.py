"""Keys: an account's keys, created, changed and deleted."""

from typing import Any

import falcon.asgi

from api.accounts.keys.making import KeyRequest, change_own_key, create_key, delete_own_key, find_own_key
from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import NavigationSection, Page, redirect, render
from api.http.address import base_url
from api.http.bodies.fields import FieldsInvalid, read_fields
from api.services.key_routes import RouteUnknown
from api.services.resource import Resource
from pipeline.accounts.sessions import Session
from pipeline.accounts.stored_keys import CHANGEABLE, Key, list_keys
from pipeline.errors import Conflict

PAGE = Page("/dashboard/keys", "Keys", NavigationSection.ACCOUNT, order=10, icon="key-round")
#: Fields that are left out where nothing was written.
NUMBERS = ("requests_per_minute", "credits_per_month")


class KeysBase(Resource):
    """A page about keys."""

    async def _session(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Session:
        return await self._services.sessions.require(req, resp)

    def _form_values(self, values: dict[str, Any], errors: dict[str, str]) -> dict[str, Any]:
        return {"shown": values, "errors": errors, "routes": self._services.key_routes}


class KeysPage(KeysBase):
    """GET and POST /dashboard/keys."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._show(req, resp, await self._session(req, resp), written(None), {})

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require_recent(req, resp, back=PAGE.path)
        form = await read_form(req, session)
        try:
            wanted = read_key(form)
            made, _ = await create_key(self._services, session.caller, wanted)
        except (FieldsInvalid, RouteUnknown, Conflict) as error:
            resp.status = error.status
            await self._show(req, resp, session, as_written(form), faults_of(error))
            return
        await self._show(req, resp, session, written(None), {}, made=wanted.name, secret=made.secret)

    async def _show(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        session: Session,
        values: dict[str, Any],
        errors: dict[str, str],
        *,
        made: str = "",
        secret: str = "",
    ) -> None:
        keys = await self._services.database.run(list_keys(session.account_id))
        form = self._form_values(values, errors)
        address = self._services.settings.api.public_url or base_url(req, self._services.proxies)
        await render(
            req, resp, "keys.html", keys=keys, form=form, made=made, secret=secret, address=address.rstrip("/")
        )


class KeyPage(KeysBase):
    """GET and POST /dashboard/keys/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        session = await self._session(req, resp)
        key = await find_own_key(self._services, session.account_id, key_id)
        await render(req, resp, "key.html", key=key, form=self._form_values(written(key), {}))

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        session = await self._session(req, resp)
        form = await read_form(req, session)
        key = await find_own_key(self._services, session.account_id, key_id)
        try:
            changed = read_key(form).model_dump()
            await change_own_key(self._services, session.caller, key, {name: changed[name] for name in CHANGEABLE})
        except (FieldsInvalid, RouteUnknown) as error:
            resp.status = error.status
            shown = self._form_values(as_written(form), faults_of(error))
            await render(req, resp, "key.html", key=key, form=shown)
            return
        redirect(req, resp, PAGE.path, f"The key {changed['name']} was saved.")


class KeyDeletion(KeysBase):
    """POST /dashboard/keys/{id}/delete."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        session = await self._session(req, resp)
        await read_form(req, session)
        key = await find_own_key(self._services, session.account_id, key_id)
        await delete_own_key(self._services, session.caller, key)
        redirect(req, resp, PAGE.path, f"The key {key.name} was deleted.")


def read_key(form: Form) -> KeyRequest:
    """Return the key in a form: an empty number means no limit, no routes mean all. Raises FieldsInvalid."""
    sent: dict[str, Any] = {"name": form.text("name"), "priority": form.text("priority", "normal")}
    sent |= {name: text for name in NUMBERS if (text := form.text(name).replace(",", ""))}
    sent["ends_with_person"] = form.is_ticked("ends_with_person")
    if routes := form.texts("routes"):
        sent["routes"] = routes
    return read_fields(KeyRequest, sent)


def written(key: Key | None) -> dict[str, Any]:
    """Return the form's values for a key, or for a new one."""
    if key is None:
        return {"name": "", "priority": "normal", **dict.fromkeys(NUMBERS, ""), "routes": []}
    numbers = {name: getattr(key, name) for name in NUMBERS}
    shown = {name: "" if value is None else value for name, value in numbers.items()}
    return {"name": key.name, "priority": key.priority, **shown, "routes": key.routes or []}


def as_written(form: Form) -> dict[str, Any]:
    """Return the form's values as they came."""
    texts = {name: form.text(name) for name in ("name", "priority", *NUMBERS)}
    return {**texts, "routes": form.texts("routes"), "ends_with_person": form.is_ticked("ends_with_person")}


def faults_of(error: FieldsInvalid | RouteUnknown | Conflict) -> dict[str, str]:
    """Return the faults by field; "" has those of none."""
    if isinstance(error, FieldsInvalid):
        return {fault["field"].partition(".")[0]: fault["message"] for fault in error.details["details"]}
    return {error.details.get("field", ""): error.message}


RESOURCES = {
    PAGE.path: KeysPage,
    f"{PAGE.path}/{{key_id}}": KeyPage,
    f"{PAGE.path}/{{key_id}}/delete": KeyDeletion,
}
