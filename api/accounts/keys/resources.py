"""Key resources: keys over HTTP."""

import falcon
import falcon.asgi

from api.accounts.keys.documents import Key, KeyChanges, KeyCreated, KeyRequest
from api.accounts.keys.making import change_own_key, create_key, delete_own_key, find_own_key, require_unlimited
from api.http.bodies.bodies import parse_object, read_body, refuse_length, require_type
from api.http.bodies.fields import read_fields
from api.services.auth import header_key
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.accounts.keys import Caller
from pipeline.accounts.stored_keys import list_keys


class KeyBase(Resource):
    """What the resources of keys share."""

    async def _sent(self, req: falcon.asgi.Request) -> tuple[Caller, bytes]:
        """Return whose request it is, and its body; a key in a header is checked before the body is read."""
        services = self._services
        max_bytes = services.settings.api.max_json_bytes
        refuse_length(req, max_bytes)
        caller = await services.authenticate_reader(req) if header_key(req) else None
        body = await read_body(req, max_bytes=max_bytes)
        if body:
            require_type(req, "application/json")
        fields = parse_object(body) if body else {}
        caller = caller or await services.authenticate_reader(req, fields.get("api_key"))
        require_unlimited(caller)
        return caller, body

    async def _reader(self, req: falcon.asgi.Request) -> Caller:
        caller = await self._services.authenticate_reader(req)
        require_unlimited(caller)
        return caller


class Keys(KeyBase):
    """GET and POST /keys."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the account's valid keys, oldest first."""
        caller = await self._reader(req)
        found = await self._services.database.run(list_keys(caller.account_id))
        show_json(resp, [Key.of(key).model_dump(mode="json") for key in found])

    on_head = on_get

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make a key, and answer with its secret, this once."""
        caller, body = await self._sent(req)
        made, stored = await create_key(self._services, caller.account_id, read_fields(KeyRequest, body or b"{}"))
        created = KeyCreated(**Key.of(stored).model_dump(), api_key=made.secret)
        resp.set_header("Location", f"/keys/{made.id}")
        show_json(resp, created.model_dump(mode="json"), 201)


class KeyResource(KeyBase):
    """GET, PATCH and DELETE /keys/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        """Answer with the key, without its secret."""
        caller = await self._reader(req)
        await self._show(resp, caller, key_id)

    on_head = on_get

    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        """Change what was sent of the key, and answer with it."""
        caller, body = await self._sent(req)
        key = await find_own_key(self._services, caller.account_id, key_id)
        wanted = read_fields(KeyChanges, body or b"{}")
        changed = wanted.model_dump(include=wanted.model_fields_set)
        await change_own_key(self._services, caller.account_id, key, changed)
        await self._show(resp, caller, key_id)

    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        """Delete the key; jobs that it has paid for go on."""
        caller, _ = await self._sent(req)
        key = await find_own_key(self._services, caller.account_id, key_id)
        await delete_own_key(self._services, caller.account_id, key)
        resp.status = falcon.HTTP_204

    async def _show(self, resp: falcon.asgi.Response, caller: Caller, key_id: str) -> None:
        key = await find_own_key(self._services, caller.account_id, key_id)
        show_json(resp, Key.of(key).model_dump(mode="json"))
