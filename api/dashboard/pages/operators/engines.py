"""Engines: which are ready, what others lack, what is being downloaded, and which services rest."""

import asyncio
from itertools import groupby

import falcon.asgi

from api.dashboard.pages.operators.endpoints import list_endpoints
from api.dashboard.pages.operators.processes import read_running
from api.dashboard.rendering import NavigationSection, Page, render
from api.services.resource import Resource
from pipeline.offers.offers import Breaker
from pipeline.operations.engines import read_engines
from pipeline.operations.pauses import read_pauses
from pipeline.settings.endpoints import SENT

PAGE = Page(
    "/dashboard/operators/engines", "Engines", NavigationSection.OPERATORS, operators_only=True, order=3, icon="boxes"
)


class Engines(Resource):
    """GET /dashboard/operators/engines."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        engines, processes, breakers, paused, endpoints = await asyncio.gather(
            services.database.run(read_engines()),
            read_running(services),
            self._breakers(),
            services.database.run(read_pauses()),
            list_endpoints(services),
        )
        families = [(family, list(found)) for family, found in groupby(engines, key=lambda one: one.family)]
        answered = {one.service for one in breakers if one.has_answered}
        silent = {one.service for one in breakers} - answered
        downloads = [(process, *one) for process in processes or () for one in process.downloads]
        await render(
            req,
            resp,
            "operators/engines.html",
            families=families,
            downloads=downloads,
            breakers=breakers,
            silent=silent,
            paused=paused,
            endpoints=endpoints,
            uses=list(SENT),
        )

    async def _breakers(self) -> list[Breaker]:
        statements = [kind.breakers() for kind in self._services.kinds.values()]
        found = await asyncio.gather(*(self._services.database.run(one) for one in statements if one is not None))
        # Kinds of one family name the same services.
        return list({breaker.name: breaker for breakers in found for breaker in breakers}.values())


RESOURCES = {PAGE.path: Engines}
