"""Processes: the programs on all machines, and the size of each pool of this system."""

import asyncio
from collections.abc import Sequence

import falcon.asgi

from api.dashboard.forms import Form, OperatorForm
from api.dashboard.rendering import NavigationSection, Page, render
from api.services.resource import Resource
from api.services.services import Services
from pipeline.errors import InvalidRequest, NotReady, PressroomError
from pipeline.operations import supervision
from pipeline.operations.processes import HASH, Process, read_processes
from pipeline.operations.supervision import MAX_PROCESSES, Pool
from pipeline.wakes.redis_away import REDIS_AWAY

PAGE = Page(
    "/dashboard/operators/processes", "Processes", NavigationSection.OPERATORS, operators_only=True, order=2, icon="cpu"
)
#: How long a page waits for the supervisor.
PATIENCE_SECONDS = 3.0
#: Why pools can't be scaled from here.
NOT_SUPERVISED = (
    "This API was not started by `pressroom up`, so its pools can't be scaled here: start or stop their processes "
    "where they run, by your foreman, systemd or Kubernetes."
)


class Processes(Resource):
    """GET /dashboard/operators/processes."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        (pools, no_pools), processes = await asyncio.gather(self._pools(), read_running(self._services))
        await render(
            req,
            resp,
            "operators/processes.html",
            pools=pools,
            no_pools=no_pools,
            processes=processes,
            max_processes=MAX_PROCESSES,
        )

    async def _pools(self) -> tuple[Sequence[Pool], str]:
        """Return the programs of the supervisor, or why there are none to be seen."""
        try:
            return await ask_supervisor(self._services), ""
        except PressroomError as error:
            return [], error.message


class PoolSize(OperatorForm):
    """POST /dashboard/operators/processes/scale."""

    page = PAGE.path
    event, logged = "pool scaled", ("pool", "processes")

    async def change(self, form: Form) -> str:
        name, processes = read_size(form)
        await ask_supervisor(self._services, name, processes)
        return f"{name} has {processes} {'process' if processes == 1 else 'processes'} now."


RESOURCES = {PAGE.path: Processes, f"{PAGE.path}/scale": PoolSize}


def read_size(form: Form) -> tuple[str, int]:
    """Return which pool is to have how many processes. Raises InvalidRequest."""
    number = form.text("processes")
    if not (number.isascii() and number.isdecimal() and len(number) < 9 and int(number) <= MAX_PROCESSES):
        raise InvalidRequest(f"{number[:20]!r} is not a number of processes: choose 0 to {MAX_PROCESSES}.")
    return form.text("pool"), int(number)


async def ask_supervisor(services: Services, name: str = "", processes: int = 0) -> list[Pool]:
    """Return the programs of the supervisor that has started this process, after scaling the pool that is named.

    Raises NotReady, SupervisorSilent, and what the supervisor refuses."""
    if not supervision.is_supervised():
        raise NotReady(NOT_SUPERVISED)
    data = services.settings.data
    if name:
        return await asyncio.to_thread(supervision.scale, data, name, processes, patience_seconds=PATIENCE_SECONDS)
    return await asyncio.to_thread(supervision.pools, data, patience_seconds=PATIENCE_SECONDS)


async def read_running(services: Services) -> list[Process] | None:
    """Return the processes that were heard of a moment ago; None: Redis is away, and nobody hears of any."""
    try:
        return read_processes(await services.client.hgetall(HASH))
    except REDIS_AWAY:
        return None
