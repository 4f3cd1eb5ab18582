"""Handlers: what carries out the items of a kind, with the engines of its family."""

import importlib
from typing import Any

from pipeline.registry import Kinds
from workers.engines.resources import Resources
from workers.handler import Handler


def load_handlers(kinds: Kinds, queue: str, resources: Resources) -> dict[str, Handler[Any, Any]]:
    """Return the handler of each kind of a queue; kinds that name the same class share one."""
    made: dict[str, Handler[Any, Any]] = {}
    handlers: dict[str, Handler[Any, Any]] = {}
    for kind in kinds.values():
        if kind.queue != queue:
            continue
        if kind.handler not in made:
            module, _, name = kind.handler.partition(":")
            made[kind.handler] = getattr(importlib.import_module(module), name)(resources)
        handlers[kind.name] = made[kind.handler]
    return handlers
