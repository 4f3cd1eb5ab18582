"""Capabilities in the API: what the `routes` of each add beside its kinds' own paths.

`WORK` has the resources of kinds' routes that answer more than POST, `resources(services)` those of its other paths;
`PATHS` describes the latter in OpenAPI, with `MODELS` that they refer to. `ERROR_FORMS` is for clients that expect
errors in another form (api/http/error_forms.py), `TRY` the page of the dashboard on which its kinds are tried. Routes
without `resources` have `TRY` alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from api.services.services import Services
from api.try_pages import TryPage
from api.work.work import Work
from pipeline.capabilities import parts


class Routes(Protocol):
    """The `routes` part of a capability that adds resources."""

    WORK: Mapping[str, type[Work]]
    PATHS: Mapping[str, Any]
    MODELS: Sequence[type[Any]]

    def resources(self, services: Services) -> Mapping[str, object]:
        """Return its resources by path."""


def load_routes() -> list[Routes]:
    """Return the routes of all capabilities that add resources."""
    return [cast("Routes", part) for part in parts("routes") if hasattr(part, "resources")]


def load_try_pages() -> list[TryPage]:
    """Return the pages on which capabilities are tried, in the order of the navigation."""
    found: list[TryPage] = [part.TRY for part in parts("routes") if hasattr(part, "TRY")]
    return sorted(found, key=lambda page: page.order)
