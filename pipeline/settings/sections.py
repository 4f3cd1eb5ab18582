"""Sections: the settings that capabilities bring, and those of other packages' engines.

A capability lists its sections in `settings.py`. A section named as one of the core, such as `retention`, extends it.
Another package adds settings for its engine by an entry point of the group `pressroom.settings`, named `family.engine`,
which is a pydantic model."""

from functools import cache
from importlib.metadata import entry_points
from typing import Any, cast

from pydantic import BaseModel, create_model

from pipeline.capabilities import parts
from pipeline.errors import NotReady
from pipeline.settings.fields import Section

GROUP = "pressroom.settings"


@cache
def complete(core: type[BaseModel]) -> type[BaseModel]:
    """Return the settings of the core with all sections. Raises NotReady for an entry point that can't be used."""
    added: list[type[Section]] = [one for part in parts("settings") for one in part.SECTIONS]
    if {one.section for one in added} <= core.model_fields.keys():
        return core
    sections: dict[str, type[BaseModel]] = {}
    for own in added:
        base = sections.get(own.section) or _of_core(core, own.section)
        sections[own.section] = create_model(base.__name__, __base__=(own, base)) if base else own
    for name, engines in _added(sections).items():
        sections[name] = create_model(sections[name].__name__, __base__=sections[name], **_fields(engines))
    return create_model(core.__name__, __base__=core, __module__=core.__module__, **_fields(sections))


def _of_core(core: type[BaseModel], section: str) -> type[BaseModel] | None:
    """Return the model of a section that the core has already."""
    field = core.model_fields.get(section)
    return cast("type[BaseModel]", field.annotation) if field else None


def _added(sections: dict[str, type[BaseModel]]) -> dict[str, dict[str, type[BaseModel]]]:
    """Return the settings of other packages' engines, by family and engine."""
    added: dict[str, dict[str, type[BaseModel]]] = {}
    for point in entry_points(group=GROUP):
        family, _, engine = point.name.partition(".")
        if family not in sections or not engine or engine in sections[family].model_fields:
            raise NotReady(f"The entry point {point.name} of {GROUP} is no free place for settings, FAMILY.ENGINE.")
        try:
            added.setdefault(family, {})[engine] = point.load()
        except (ImportError, AttributeError) as error:
            raise NotReady(f"The entry point {point.name} of {GROUP} can't be loaded: {error}") from error
    return added


def _fields(models: dict[str, Any]) -> dict[str, Any]:
    return {name: (model, model()) for name, model in models.items()}
