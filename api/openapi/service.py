"""The service's document: all that its kinds, its families and its other parts answer."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from api import webhooks
from api.accounts import keys, usage
from api.capabilities import Routes
from api.openapi.document import make_document
from pipeline.registry import Kinds

#: What an account sees of its keys, of what they have used and of its webhooks: resources, and their description.
ACCOUNTING = (keys, usage, webhooks)


def describe_service(kinds: Kinds, families: Sequence[Routes]) -> dict[str, Any]:
    """Return the OpenAPI document of everything."""
    parts: list[Any] = [*families, *ACCOUNTING]
    paths = {path: methods for part in parts for path, methods in part.PATHS.items()}
    return make_document(kinds, paths, [model for part in parts for model in part.MODELS], version=version("pressroom"))
