"""Capabilities in the API: what the `routes` of each add beside its kinds' own paths.

`RESOURCES` has resources by path, each built with the services; `WORK` those of kinds' routes that differ from `Work`.
Their declared operations make the OpenAPI document; `PATHS` and `MODELS` describe routes that
mirror another API.
`ERROR_FORMS` is for clients that expect errors in another form (api/http/error_forms.py), `TRY` the page of the
dashboard that tries its kinds. Routes without `RESOURCES` have `TRY` alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, cast

from api.services.services import Services
from api.try_pages import TryPage
from pipeline.capabilities import capabilities, parts


class Routes(Protocol):
    """The `routes` part of a capability that adds resources."""

    RESOURCES: Mapping[str, Callable[[Services], object]]


def load_routes() -> list[Routes]:
    return [cast("Routes", part) for part in parts("routes") if hasattr(part, "RESOURCES")]


def load_try_pages() -> list[TryPage]:
    """Return the pages on which capabilities are tried, in the order of the navigation."""
    found: list[TryPage] = [part.TRY for part in parts("routes") if hasattr(part, "TRY")]
    return sorted(found, key=lambda page: page.order)


def dashboard_folders() -> list[Path]:
    """Return the folders `dashboard` of capabilities: templates, scripts and styles of their try pages."""
    folders = [Path(capability.__path__[0]) / "dashboard" for capability in capabilities()]
    return [folder for folder in folders if folder.is_dir()]
