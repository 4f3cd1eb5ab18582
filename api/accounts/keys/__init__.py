"""Keys: made, listed, changed and deleted by their account."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.accounts.keys.documents import Key, KeyChanges, KeyCreated, KeyRequest
from api.accounts.keys.resources import KeyResource, Keys
from api.services.services import Services

PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS = (Key, KeyCreated, KeyRequest, KeyChanges)


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources of keys by path."""
    return {"/keys": Keys(services), "/keys/{key_id}": KeyResource(services)}
