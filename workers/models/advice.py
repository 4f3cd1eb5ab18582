"""Advice: which models of the catalogue this machine would run, and the command that brings them."""

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipeline.settings.installing import install_command
from workers.models.catalogue import CatalogueModel, models_of, read_catalogue
from workers.models.machine import Machine, gigabytes, this_machine
from workers.models.store import ModelStore


def recommended(models: Iterable[CatalogueModel], machine: Machine) -> Sequence[CatalogueModel]:
    """Return the models that a machine should have: of alternatives the first that suits it, and what is automatic."""
    chosen: list[CatalogueModel] = []
    decided: set[str] = set()
    for model in models:
        if model.one_of in decided or not (model.one_of or model.automatic) or not machine.suits(model):
            continue
        chosen.append(model)
        if model.one_of is not None:
            decided.add(model.one_of)
    return chosen


def wanted(store: ModelStore, family: str | None = None, machine: Machine | None = None) -> Sequence[CatalogueModel]:
    """Return the recommended models of a family, or of all, that are not here."""
    models = [model for model in store.catalogue.values() if family is None or model.serves(family)]
    return [
        model
        for model in recommended(models, machine or this_machine())
        if not store.is_here(model) and not _has_better(store, models, model)
    ]


def default_model(store: ModelStore, family: str, engine: str, machine: Machine) -> CatalogueModel | None:
    """Return the model that an engine runs when none is set: of those here the first that suits, or else the smallest.

    None: none is here."""
    here = store.here(family, engine)
    return next((model for model in here if can_run(machine, model)), here[-1] if here else None)


def can_run(machine: Machine, model: CatalogueModel) -> bool:
    """Return whether a machine has the memory, or the GPU, and the packages for a model.

    Cores only decide what is recommended: who fetched a model that is slow here wanted it."""
    return replace(machine, cores=max(machine.cores, model.needs.cores)).suits(model)


def remedy(family: str, engine: str, machine: Machine) -> str:
    """Return which command brings the model that suits a machine, or what the machine lacks for any."""
    models = models_of(family, engine)
    best = next((model for model in models if machine.lacks(model.needs) is None), None)
    if best is not None:
        return f"{command([best])} adds {best.gives} ({gigabytes(best.size_bytes)}, {best.licence})"
    if not models:
        return "the catalogue has none for it"
    least = models[-1]
    lacks = machine.lacks(least.needs)
    return f"{least.name}, the smallest of the catalogue, needs {lacks}; {command([least])} downloads it anyway"


def brings(models: Sequence[CatalogueModel], download: str) -> str:
    """Return which command brings models, and whether they come by themselves; `download` as the setting has it."""
    gives = "; ".join(dict.fromkeys(model.gives for model in models))
    said = f"{command(models)} adds {gives} ({gigabytes(sum(model.size_bytes for model in models))})"
    comes = [model.name for model in models if model.automatic] if download == "auto" else []
    return f"{said}; a pool that runs downloads {' and '.join(comes)} by itself" if comes else said


def brings_better(store: ModelStore, family: str, download: str, machine: Machine | None = None) -> str:
    """Return how to get a better engine than a family's fallback, or what this machine lacks for it."""
    machine = machine or this_machine()
    if models := wanted(store, family, machine):
        return brings(models, download)
    offered = [model for model in store.catalogue.values() if model.serves(family)]
    return remedy(family, offered[0].engine, machine) if offered else "the catalogue has no model for it"


def what_writes(family: str, language: str, extra: str, machine: Machine | None = None) -> str:
    """Return how a machine gets the model of a family that suits it and writes a language, in a sentence for people.

    `extra` names the packages that the family's models need."""
    machine = machine or this_machine()
    models = [
        model
        for model in read_catalogue().values()
        if model.serves(family) and (not model.languages or language in model.languages)
    ]
    best = next((model for model in models if machine.lacks(model.needs) is None), models[-1])
    if all(importlib.util.find_spec(package) for package in best.needs.packages):
        brings = f"{command([best])} adds"
    else:
        brings = f"`{install_command(extra)}` and {command([best])} add"
    brings += f" {best.gives} ({gigabytes(best.size_bytes)}, {best.licence})"
    lacks = machine.lacks(best.needs)
    return f"{brings}; it needs {lacks}, which this machine lacks." if lacks else f"{brings}."


def _has_better(store: ModelStore, models: Sequence[CatalogueModel], model: CatalogueModel) -> bool:
    """Return whether an alternative is here that comes first: somebody has fetched it."""
    if model.one_of is None:
        return False
    better = models[: models.index(model)]
    return any(other.one_of == model.one_of and store.is_here(other) for other in better)


def command(models: Sequence[CatalogueModel]) -> str:
    """Return the command that fetches models."""
    return f"`pressroom models fetch {' '.join(model.name for model in models)}`"
