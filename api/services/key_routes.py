"""Key routes: the paths that a key with routes may use."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pipeline.accounts.keys import Caller
from pipeline.errors import Forbidden, InvalidRequest

#: Open to every key: jobs (only those of its routes are found), and the models that clients list first.
ALWAYS = ("/jobs", "/v1/models")
#: Closed to every key with limits: it could remove them, or see what others do.
NEVER = ("/account/audit", "/keys")


class RouteUnknown(InvalidRequest):
    """A key can't be limited to this route."""

    code = "route_unknown"


def check_routes(routes: Sequence[str] | None, known: Collection[str]) -> None:
    """Refuse routes that are not among `limitable_routes`. Raises RouteUnknown."""
    for route in routes or ():
        if route not in known:
            near = get_close_matches(route, known, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise RouteUnknown(
                f"A key can't be limited to {route[:60]!r}.{meant} Choose from {', '.join(known)}.", field="routes"
            )


def require_route(caller: Caller, route: str) -> None:
    """Refuse a key that may not use a route (a path template). Raises Forbidden."""
    if caller.routes is None or caller.may_use(route) or _is_below(route, ALWAYS):
        return
    listed = ", ".join(caller.routes)
    message = f"This API key may only be used for {listed}, not for {route}. Use another key."
    raise Forbidden(message, code="route_not_allowed")


def limitable_routes(operations: Iterable[tuple[str, str, Mapping[str, Any]]]) -> tuple[str, ...]:
    """Return the paths that a key can be limited to: those that need a key and have no ids.

    `operations` are those of api.openapi.document."""
    found = {
        path
        for path, _, operation in operations
        if "{" not in path and operation.get("security") != [] and not _is_below(path, (*ALWAYS, *NEVER))
    }
    return tuple(sorted(found))


def _is_below(route: str, places: tuple[str, ...]) -> bool:
    return any(route == place or route.startswith(f"{place}/") for place in places)
