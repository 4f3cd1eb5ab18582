"""Models: those of the catalogue, here or not, with size and progress; an operator fetches and removes them."""

import asyncio
from typing import Any

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.page import NavigationSection, Page
from api.dashboard.pages.operators.model_install import ask_pool
from api.dashboard.pages.operators.processes import read_running
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from pipeline.log import get_logger
from pipeline.operations.engines import read_engines
from pipeline.operations.model_requests import MODEL_ACTIONS, ModelRequest
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)

PAGE = Page(
    "/dashboard/operators/models", "Models", NavigationSection.OPERATORS, operators_only=True, order=3, icon="download"
)


class Models(Resource):
    """GET and POST /dashboard/operators/models."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with all models, those that are here first."""
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

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Ask a pool to fetch or remove a model."""
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        name, change = form.text("model"), form.text("change")
        found = (await self._stock()).get(name)
        action = next((one for one in MODEL_ACTIONS if one == change), None)
        if found is None or action is None:
            redirect(req, resp, PAGE.path, f"No pool offers the model {name[:60]}.", "bad")
            return
        try:
            await ask_pool(self._services, found["family"], ModelRequest(action, name))
        except REDIS_AWAY:
            redirect(req, resp, PAGE.path, "Redis does not answer, so no pool can be asked.", "bad")
            return
        log.info("model asked for", change=change, model=name, by=str(session.account_id))
        does = "fetches" if change == "fetch" else "removes"
        redirect(req, resp, PAGE.path, f"A pool {does} {name} within seconds.")

    async def _stock(self) -> dict[str, dict[str, Any]]:
        """Return the models by name, each with its uses and a family whose pool can fetch it."""
        found: dict[str, dict[str, Any]] = {}
        for engine in await self._services.database.run(read_engines()):
            for one in engine.stock:
                known = found.setdefault(one["model"], {**one, "uses": [], "family": engine.family})
                known["uses"].append(f"{engine.family} ({engine.engine})")
        return found


RESOURCES = {PAGE.path: Models}
