"""Key routes: which paths a key that is limited to some routes may be used for."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pipeline.accounts.keys import Caller
from pipeline.errors import Forbidden, InvalidRequest

#: What every key may be used for: jobs, which are then those of the key's own routes, and the list of models, which
#: clients ask for before anything else.
ALWAYS = ("/jobs", "/v1/models")
#: What no key with limits of its own may be used for: it would take them off.
NEVER = ("/keys",)


class RouteNotAllowed(Forbidden):
    """The API key is limited to other routes."""

    code = "route_not_allowed"


class RouteUnknown(InvalidRequest):
    """There is no such route, or none that a key can be limited to."""

    code = "route_unknown"


def check_routes(routes: Sequence[str] | None, known: Collection[str]) -> None:
    """Refuse routes that are none of `limitable_routes`. Raises RouteUnknown."""
    for route in routes or ():
        if route not in known:
            near = get_close_matches(route, known, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise RouteUnknown(
                f"A key can't be limited to {route[:60]!r}.{meant} It can be to {', '.join(known)}.", field="routes"
            )


def require_route(caller: Caller, route: str) -> None:
    """Refuse a key at a route, given as its path's template, that it is not for. Raises RouteNotAllowed."""
    if caller.routes is None or caller.may_use(route) or _is_below(route, ALWAYS):
        return
    listed = ", ".join(caller.routes)
    raise RouteNotAllowed(f"This API key may be used for {listed} alone, and not for {route}. Use another key.")


def limitable_routes(operations: Iterable[tuple[str, str, Mapping[str, Any]]]) -> tuple[str, ...]:
    """Return what a key can be limited to: the paths without ids in them that want a key.

    Takes what api.openapi.document.operations yields."""
    found = {
        path
        for path, _, operation in operations
        if "{" not in path and operation.get("security") != [] and not _is_below(path, (*ALWAYS, *NEVER))
    }
    return tuple(sorted(found))


def _is_below(route: str, places: tuple[str, ...]) -> bool:
    return any(route == place or route.startswith(f"{place}/") for place in places)
