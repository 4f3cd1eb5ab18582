"""Usage: what an account has used, in all, by day, route or key, and line by line."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from api.accounts.usage.documents import LedgerEntry, UsageReport
from api.accounts.usage.resources import Ledger, UsageResource
from api.services.services import Services

PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS = (UsageReport, LedgerEntry)


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources of usage by path."""
    return {"/usage": UsageResource(services), "/usage/ledger": Ledger(services)}
