"""Capabilities: finds what each capability brings, without importing the rest of it.

The core never names a capability: it asks for a part, such as `kinds` or `routes`, of all that are listed."""

import importlib
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: The package that lists them.
PACKAGE = "capabilities"


def capabilities() -> list[ModuleType]:
    """Return the packages of all capabilities, in the order in which they are listed; each says only what it has."""
    listed: tuple[str, ...] = importlib.import_module(PACKAGE).CAPABILITIES
    return [importlib.import_module(f"{PACKAGE}.{name}") for name in listed]


@cache
def parts(part: str) -> tuple[ModuleType, ...]:
    """Import one part of each capability that has it, such as `capabilities.speech.kinds`."""
    paths = [f"{capability.__name__}.{part}" for capability in capabilities()]
    return tuple(importlib.import_module(path) for path in paths if find_spec(path))


def declared(name: str) -> dict[str, Any]:
    """Return one mapping of the declarations of all capabilities under a name, such as `FAMILIES`."""
    return {key: value for one in capabilities() for key, value in getattr(one, name, {}).items()}
