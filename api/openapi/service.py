"""The service's document: its kinds, its own routes and those of capabilities."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from api.capabilities import Routes
from api.openapi.document import make_document
from api.routes import RESOURCES
from pipeline.registry import Kinds


def describe_service(kinds: Kinds, families: Sequence[Routes]) -> dict[str, Any]:
    """Return the OpenAPI document of the whole service."""
    resources = dict(RESOURCES)
    described: dict[str, Any] = {}
    models: list[type[Any]] = []
    for family in families:
        resources |= {**getattr(family, "WORK", {}), **getattr(family, "RESOURCES", {})}
        described |= getattr(family, "PATHS", {})
        models += getattr(family, "MODELS", ())
    return make_document(kinds, resources, described, models, version=version("pressroom"))
