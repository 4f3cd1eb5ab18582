"""Small: a system for little memory: one process for all pools, one for the API, and no model in memory unused."""

from collections.abc import Mapping

from pydantic import BaseModel

from pipeline.settings import Settings
from pipeline.settings.settings_sources import variable
from workers.models.machine import this_machine

#: The name of the process that pools share.
SHARED = "pools"
#: With less memory, a system is small without being told.
LITTLE_BYTES = 1_500_000_000
#: Settings of a small system unless its operator sets others: no further models, and none kept for long.
DEFAULTS = {
    ("models", "download"): "ask",
    ("transcription", "whisper", "idle_minutes"): "1",
    ("work", "rest_minutes"): "3",
}


def has_little_memory() -> bool:
    """Return whether this machine, or container, has too little memory for a process a pool."""
    return this_machine().memory_bytes < LITTLE_BYTES


def smaller(settings: Settings) -> Settings:
    """Return the settings of a small system, for its supervisor."""
    api = settings.api
    if _is_default(settings, ("api", "processes")):
        api = api.model_copy(update={"processes": 1})
    return settings.model_copy(update={"small": True, "api": api})


def small_environment(settings: Settings) -> Mapping[str, str]:
    """Return the variables of a small system's processes; none unless it is small."""
    if not settings.small:
        return {}
    found = {variable(path): value for path, value in DEFAULTS.items() if _is_default(settings, path)}
    return found | {variable(("small",)): "true", "PRESSROOM_API__PROCESSES": str(settings.api.processes)}


def _is_default(settings: Settings, path: tuple[str, ...]) -> bool:
    section: BaseModel = settings
    for name in path[:-1]:
        section = getattr(section, name)
    default = type(section).model_fields[path[-1]].default
    return bool(getattr(section, path[-1]) == default)
