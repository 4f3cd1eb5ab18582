"""The service's document: its kinds, its own routes and those of capabilities.

`python -m api.openapi.service` writes it, for generators of clients."""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from api.capabilities import Routes, load_routes
from api.openapi.document import make_document
from api.routes import RESOURCES
from pipeline.registry import Kinds, load_kinds
from pipeline.settings import Settings


def describe_service(kinds: Kinds, families: Sequence[Routes]) -> dict[str, Any]:
    resources = dict(RESOURCES)
    described: dict[str, Any] = {}
    models: list[type[Any]] = []
    for family in families:
        resources |= {**getattr(family, "WORK", {}), **getattr(family, "RESOURCES", {})}
        described |= getattr(family, "PATHS", {})
        models += getattr(family, "MODELS", ())
    return make_document(kinds, resources, described, models, version=version("pressroom"))


if __name__ == "__main__":
    json.dump(describe_service(load_kinds(Settings()), load_routes()), sys.stdout)
