"""Families: what a family adds to the API beside its kinds. Each module or folder here is found by itself.

It has `WORK` (resources of kinds' routes that answer more than POST, by path), `resources(services)` (the resources of
its other paths), `PATHS` (these paths in OpenAPI), and `MODELS` (what they refer to besides). One whose clients expect
errors in another form has `ERROR_FORMS` as well (api/error_forms.py). One whose kinds are tried on a page of their own
in the dashboard has `TRY` (api/try_pages.py), and may have nothing else.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, cast

from api.services import Services
from api.try_pages import TryPage
from api.work import Work


class Family(Protocol):
    """A module or folder of this package that adds resources."""

    WORK: Mapping[str, type[Work]]
    PATHS: Mapping[str, Any]
    MODELS: Sequence[type[Any]]

    def resources(self, services: Services) -> Mapping[str, object]:
        """Return the family's resources by path."""


def load_families() -> list[Family]:
    """Return all families that add resources."""
    return [cast("Family", module) for module in _modules() if hasattr(module, "resources")]


def load_try_pages() -> list[TryPage]:
    """Return the pages on which families' kinds are tried, in the order of the navigation."""
    found: list[TryPage] = [module.TRY for module in _modules() if hasattr(module, "TRY")]
    return sorted(found, key=lambda page: page.order)


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
