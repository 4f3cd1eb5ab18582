"""Model install: a button beside a draft has the model downloaded that suits the machine, and shows its progress."""

from typing import Any

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.pages.operators.processes import read_running
from api.services.resource import Resource
from api.services.services import Services
from pipeline.errors import InvalidRequest
from pipeline.operations.model_requests import KEPT_FOR, ModelRequest, request_key

PATH = "/dashboard/operators/models/{family}"


class ModelInstall(Resource):
    """GET and POST /dashboard/operators/models/FAMILY, in JSON."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, family: str) -> None:
        """Answer with the model that can be installed, and how much of it has come; null: there is none."""
        resp.media = {"install": await self._install(family)}

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, family: str) -> None:
        """Ask the pool for the download. Raises InvalidRequest if there is none."""
        session = await self._services.sessions.require_operator(req, resp)
        await read_form(req, session)
        if (found := await self._install(family)) is None:
            raise InvalidRequest("No model can be installed: it is here already, or this machine is too small for any.")
        await ask_pool(self._services, family, ModelRequest("fetch", found["model"]))
        resp.status, resp.media = falcon.HTTP_ACCEPTED, {"install": found}

    async def _install(self, family: str) -> dict[str, Any] | None:
        offers = await self._services.offer_cache.offers()
        offered = (offer.content.get("install") for offer in offers.of(family))
        found: dict[str, Any] | None = next((dict(one) for one in offered if one), None)
        if found is not None:
            processes = await read_running(self._services) or ()
            done = (done for process in processes for name, done, _ in process.downloads if name == found["model"])
            found["done"] = next(done, None)
        return found


RESOURCES = {PATH: ModelInstall}


async def ask_pool(services: Services, family: str, request: ModelRequest) -> None:
    """Ask the pool of a family to fetch or remove a model."""
    pipe = services.client.pipeline(transaction=True)
    pipe.rpush(request_key(family), request.written())
    pipe.expire(request_key(family), KEPT_FOR)
    await pipe.execute()
