"""Model choice: which model an engine runs, and what is missing before it can."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pipeline.settings import Settings
from pipeline.settings.fields import GgufSettings, ModelSettings
from pipeline.settings.installing import install_command
from workers.models.advice import default_model, remedy
from workers.models.machine import Machine, this_machine
from workers.models.store import ModelStore

Own = TypeVar("Own", bound=GgufSettings)

#: The MODEL of an engine that is not wanted.
OFF = "none"


def settled(settings: Settings, own: Own, family: str, engine: str) -> Own:
    """Return an engine's settings with the model of the catalogue that is here, where the operator has named none."""
    if own.model is not None:
        return own
    store = ModelStore(settings)
    found = default_model(store, family, engine, machine_for(own))
    if found is None:
        return own
    # The model's own values, such as its number of steps, unless the operator set others.
    details = {name: found.details[name] for name in found.details if getattr(own, name, "") is None}
    return own.model_copy(update=details | {"model": str(store.root / found.name)})


def machine_for(own: GgufSettings) -> Machine:
    """Return the machine as an engine uses it: without its GPU, if the engine is to run on the processor."""
    return replace(this_machine(), gpu_bytes=0) if getattr(own, "device", None) == "cpu" else this_machine()


def models_of(engine: object) -> tuple[str, ...]:
    """Return the name of the model that an engine runs, which may be the path of its folder; nothing if it has none."""
    model = getattr(engine, "model", None)
    return () if not model else (Path(model).name if Path(model).is_absolute() else model,)


def missing(settings: ModelSettings, *packages: str, extra: str, family: str, engine: str) -> str | None:
    """Return which setting, package or model is missing before an engine can load its model; None: nothing is."""
    setting = f"PRESSROOM_{family.upper()}__{engine.upper()}__MODEL"
    if settings.model == OFF:
        return f"{setting} is {OFF}, so it is not used"
    wants = None if settings.model else f"{setting} names no model; {remedy(family, engine, machine_for(settings))}"
    lacking = [package for package in packages if importlib.util.find_spec(package) is None]
    if lacking:
        install = f"{', '.join(lacking)} not installed; `{install_command(extra)}`"
        return f"{install}; {wants}" if wants else install
    return wants
