"""Key resources: keys over HTTP."""

from collections.abc import Mapping

import falcon
import falcon.asgi

from api.accounts.keys.making import (
    KeyChanges,
    KeyCreated,
    KeyRequest,
    change_own_key,
    create_key,
    delete_own_key,
    find_own_key,
    require_unlimited,
)
from api.http.bodies.fields import read_sent_fields
from api.http.operations import LOCATION, Operation, Reply
from api.services.resource import Resource, read_sent
from api.work.answers import show_json
from pipeline.accounts.keys import Caller
from pipeline.accounts.stored_keys import Key, list_keys

TAG = "account"
EXAMPLE = {"name": "Newsletter", "requests_per_minute": 30, "credits_per_month": 1000, "routes": ["/tts"]}


class KeyBase(Resource):
    """A resource of keys, which no key with limits may use."""

    async def _sent(self, req: falcon.asgi.Request) -> tuple[Caller, bytes]:
        caller, body = await read_sent(self._services, req)
        require_unlimited(caller)
        return caller, body

    async def _reader(self, req: falcon.asgi.Request) -> Caller:
        caller = await self._services.authenticate_reader(req)
        require_unlimited(caller)
        return caller

    async def _show(self, resp: falcon.asgi.Response, caller: Caller, key_id: str) -> None:
        show_json(resp, await find_own_key(self._services, caller.account_id, key_id))


class Keys(KeyBase):
    """GET and POST /keys."""

    @Operation(
        id="get_keys",
        tag=TAG,
        summary="List the account's keys, oldest first, with this month's use.",
        replies={200: Reply("The keys.", list[Key])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._reader(req)
        found = await self._services.database.run(list_keys(caller.account_id))
        show_json(resp, found)

    @Operation(
        id="post_keys",
        tag=TAG,
        summary="Create a key, with limits if you like. Its secret is shown only once.",
        body=KeyRequest,
        example=EXAMPLE,
        replies={201: Reply("The key.", KeyCreated, headers=LOCATION)},
        errors=(409, 415),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, body = await self._sent(req)
        self._services.sessions.check_recent(req)
        made, stored = await create_key(self._services, caller, read_sent_fields(req, KeyRequest, body))
        resp.set_header("Location", f"/keys/{made.id}")
        show_json(resp, KeyCreated(**stored.model_dump(), api_key=made.secret), 201)


class KeyResource(KeyBase):
    """GET, PATCH and DELETE /keys/{id}."""

    @Operation(
        id="get_key", tag=TAG, summary="Return a key, without its secret.", replies={200: Reply("The key.", Key)}
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        await self._show(resp, await self._reader(req), key_id)

    @Operation(
        id="patch_key",
        tag=TAG,
        summary="Change the name or limits of a key; null removes a limit.",
        body=KeyChanges,
        example={"credits_per_month": 2000},
        replies={200: Reply("The key.", Key)},
        errors=(415,),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        caller, body = await self._sent(req)
        key = await find_own_key(self._services, caller.account_id, key_id)
        wanted = read_sent_fields(req, KeyChanges, body)
        changed = wanted.model_dump(include=wanted.model_fields_set)
        await change_own_key(self._services, caller, key, changed)
        await self._show(resp, caller, key_id)

    @Operation(
        id="delete_key",
        tag=TAG,
        summary="Delete a key. It is refused from now on; its jobs go on.",
        replies={204: Reply("The key is deleted.")},
        errors=(415,),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, key_id: str) -> None:
        caller, _ = await self._sent(req)
        key = await find_own_key(self._services, caller.account_id, key_id)
        await delete_own_key(self._services, caller, key)
        resp.status = falcon.HTTP_204


RESOURCES: Mapping[str, type[Resource]] = {"/keys": Keys, "/keys/{key_id}": KeyResource}
