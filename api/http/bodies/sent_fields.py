"""Sent fields: those of a JSON body that a request's model does not know, also inside objects and lists."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel

#: The names on the way to a field: `("voice", "speed")`. A list's entries have no names.
Path = tuple[str, ...]
#: Most paths that are kept of a body, and most names in one: fields of requests are fewer.
MAX_PATHS = 1_000
MAX_DEPTH = 5


def paths_of(body: Mapping[str, Any]) -> frozenset[Path]:
    """Return the paths of a body's fields, once for all entries of a list."""
    return frozenset(islice(_paths(body, ()), MAX_PATHS))


def _paths(value: object, at: Path) -> Iterator[Path]:
    if len(at) == MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, one in value.items():
            yield (*at, name)
            yield from _paths(one, (*at, name))
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, (dict, list)):
                yield from _paths(one, at)


def unknown(path: Path, model: type[BaseModel]) -> str | None:
    """Return the name of the first field on a path that a model lacks, such as "voice.speed"; None if it has all."""
    models: tuple[type[BaseModel], ...] = (model,)
    for place, name in enumerate(path, 1):
        known = [found for one in models if (found := fields_of(one).get(name)) is not None]
        if not known:
            return ".".join(path[:place])
        models = tuple(inner for found in known for inner in found)
        if not models:  # whatever is in it, it is not a field
            return None
    return None


@cache
def fields_of(model: type[BaseModel]) -> Mapping[str, tuple[type[BaseModel], ...]]:
    """Return the fields of a model by the names under which they may be sent, each with the models inside it."""
    fields: dict[str, tuple[type[BaseModel], ...]] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        more = map(str, alias.choices) if isinstance(alias, AliasChoices) else ()
        fields |= dict.fromkeys((name, *more), tuple(_models(field.annotation)))
    return fields


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not dict:
        for one in get_args(annotation):
            yield from _models(one)
