"""Families: what a family adds to the API beside its kinds. Each module or folder here is found by itself.

It has `WORK` (resources of kinds' routes that answer more than POST, by path), `resources(services)` (the resources of
its other paths), `PATHS` (these paths in OpenAPI), and `MODELS` (what they refer to besides).
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from api.services import Services
from api.work import Work


class Family(Protocol):
    """A module or folder of this package."""

    WORK: Mapping[str, type[Work]]
    PATHS: Mapping[str, Any]
    MODELS: Sequence[type[Any]]

    def resources(self, services: Services) -> Mapping[str, object]:
        """Return the family's resources by path."""


def load_families() -> list[Family]:
    """Return all families."""
    return [
        cast("Family", importlib.import_module(f"{__name__}.{found.name}")) for found in pkgutil.iter_modules(__path__)
    ]
