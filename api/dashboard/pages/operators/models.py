"""Models: those of the catalogue, here or not, with size and progress; an operator fetches and removes them."""

import asyncio
from typing import Any

import falcon.asgi

from api.dashboard.forms import Form, OperatorForm, read_form
from api.dashboard.pages.operators.processes import read_running
from api.dashboard.rendering import NavigationSection, Page, render
from api.services.resource import Resource
from api.services.services import Services
from pipeline.errors import InvalidRequest, NotFound, ServiceUnavailable
from pipeline.operations.engines import read_engines
from pipeline.operations.model_requests import KEPT_FOR, MODEL_ACTIONS, ModelRequest, request_key
from pipeline.wakes.redis_away import REDIS_AWAY

PAGE = Page(
    "/dashboard/operators/models", "Models", NavigationSection.OPERATORS, operators_only=True, order=3, icon="download"
)


class Models(OperatorForm):
    """GET and POST /dashboard/operators/models."""

    page = PAGE.path
    event, logged = "model asked for", ("change", "model")

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        stock, processes = await asyncio.gather(self._stock(), read_running(self._services))
        downloads = {name: (done, total) for process in processes or () for name, done, total in process.downloads}
        await render(
            req,
            resp,
            "operators/models.html",
            stock=sorted(stock.values(), key=lambda one: (not one["is_here"], one["uses"], one["bytes"])),
            downloads=downloads,
            may_fetch=self._services.settings.models.download != "never",
        )

    async def change(self, form: Form) -> str:
        name, change = form.text("model"), form.text("change")
        found = (await self._stock()).get(name)
        action = next((one for one in MODEL_ACTIONS if one == change), None)
        if found is None or action is None:
            raise NotFound(f"No pool offers the model {name[:60]}.")
        try:
            await ask_pool(self._services, found["family"], ModelRequest(action, name))
        except REDIS_AWAY:
            raise ServiceUnavailable("Redis does not answer, so no pool can be asked.") from None
        return f"A pool {'fetches' if change == 'fetch' else 'removes'} {name} within seconds."

    async def _stock(self) -> dict[str, dict[str, Any]]:
        """Return the models by name, each with its uses and a family whose pool can fetch it."""
        found: dict[str, dict[str, Any]] = {}
        for engine in await self._services.database.run(read_engines()):
            for one in engine.stock:
                known = found.setdefault(one["model"], {**one, "uses": [], "family": engine.family})
                known["uses"].append(f"{engine.family} ({engine.engine})")
        return found


class ModelInstall(Resource):
    """GET and POST /dashboard/operators/models/FAMILY, in JSON."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, family: str) -> None:
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


async def ask_pool(services: Services, family: str, request: ModelRequest) -> None:
    """Ask the pool of a family to fetch or remove a model."""
    pipe = services.client.pipeline(transaction=True)
    pipe.rpush(request_key(family), request.written())
    pipe.expire(request_key(family), KEPT_FOR)
    await pipe.execute()


RESOURCES = {PAGE.path: Models, f"{PAGE.path}/{{family}}": ModelInstall}
