"""Registry: the engines of each family by name, those of this project and those that other packages add.

A capability names the package of each of its families (FAMILIES), whose `__init__.py` lists its engines. Another
package adds an engine by an entry point of the group `pressroom.engines`, named `family.engine`. Nothing is imported
before it is asked for."""

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Protocol, Self

from pipeline.capabilities import declared
from pipeline.errors import NotReady
from pipeline.log import errors_logged, get_logger
from pipeline.offers.offers import preferred_engines
from pipeline.settings import Settings
from workers.models.machine import this_machine

log = get_logger(__name__)

GROUP = "pressroom.engines"


class Engine(Protocol):
    """The interface of every engine."""

    name: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine with the operator's settings, not set up yet."""

    def readiness(self) -> str | None:
        """Return its missing needs; None: it can be set up."""

    def setup(self) -> None:
        """Load its needs, once a process. Raises NotReady."""


class Unloadable:
    """An engine of another package that can't be loaded: its readiness is always the reason."""

    def __init__(self, name: str, needs: str) -> None:
        self.name = name
        self._needs = needs

    def readiness(self) -> str:
        """Return why it can't be loaded."""
        return self._needs


def list_families() -> list[str]:
    """Return the names of all families: ours, and those that only another package has engines of."""
    return list(dict.fromkeys([*_families(), *(family for family, _, _ in _added())]))


def list_engines(family: str) -> dict[str, EntryPoint]:
    """Return a family's engines by name, in its own order of preference: ours, then those of other packages."""
    listed = {name: EntryPoint(name, path, GROUP) for name, path in _ours(family).items()}
    for added_to, name, point in _added():
        if added_to == family and listed.setdefault(name, point) is not point:
            log.warning("engine left out, another one has its name", engine=point.name, path=point.value)
    return listed


def fallbacks() -> dict[str, str]:
    """Return the families that have an engine which does without a model, by that engine's name."""
    named = ((getattr(_package(family), "FALLBACK", None), family) for family in _families())
    return {engine: family for engine, family in named if engine}


def list_endpoints(settings: Settings, family: str) -> dict[str, EntryPoint]:
    """Return the endpoints that have a model for a family, by name. Raises NotReady for the name of an engine."""
    package = _package(family)
    use, path = getattr(package, "ENDPOINT_MODEL", None), getattr(package, "ENDPOINT", "")
    found = {}
    for name, endpoint in settings.endpoints.items():
        if use is None or getattr(endpoint, use) is None:
            continue
        if name in list_engines(family):
            raise NotReady(f"The endpoint {name} has the name of an engine of {family}. Give it another name.")
        found[name] = EntryPoint(name, path, GROUP)
    return found


def named_engines(settings: Settings, family: str) -> dict[str, EntryPoint]:
    """Return a family's engines in order of preference, not loaded. Raises NotReady for a name nobody knows.

    By default endpoints come first: an operator who names a model there wants it."""
    known = list_endpoints(settings, family) | list_engines(family)
    for name in preferred_engines(settings, family):
        if name not in known:
            listed = ", ".join(sorted(known))
            setting = f"PRESSROOM_{family.upper()}__{'PROVIDERS' if family == 'search' else 'ENGINES'}"
            raise NotReady(f"{setting} names {name!r}; the {family} engines are {listed}.")
    return {name: known[name] for name in preferred_engines(settings, family) or known}


def load_engines(settings: Settings, family: str) -> list[Any]:
    """Return a family's engines in order of preference, not set up yet. Raises NotReady for a name nobody knows."""
    known, endpoints = named_engines(settings, family), list_endpoints(settings, family)
    loaded = []
    for name in known:
        if name in endpoints:
            loaded.append(known[name].load().from_endpoint(settings, name))
            continue
        is_ours = known[name].dist is None
        loaded.append(_load(known[name], settings) if is_ours else _load_added(name, known[name], settings))
    return loaded


def advise(family: str, engines: Sequence[Any]) -> list[str]:
    """Return the family's advice to an operator of these engines, if any."""
    found = getattr(_package(family), "advise", None)
    return list(found(engines)) if found else []


def _families() -> Mapping[str, str]:
    return declared("FAMILIES")


def _package(family: str) -> ModuleType | None:
    """Return the package of a family of ours; None for a family of other packages."""
    path = _families().get(family)
    return importlib.import_module(path) if path else None


def _ours(family: str) -> dict[str, str]:
    """Return the class paths of our engines of a family; with a GPU, those that are better there come first."""
    package = _package(family)
    engines = dict(getattr(package, "ENGINES", {}))
    first = getattr(package, "FIRST_ON_GPU", ()) if this_machine().gpu_bytes else ()
    return {name: engines[name] for name in (*first, *engines)}


def _added() -> Iterator[tuple[str, str, EntryPoint]]:
    """Yield family, name and class path of each engine that another package adds."""
    for point in _points(tuple(sys.path)):
        family, dot, name = point.name.partition(".")
        if dot:
            yield family, name, point


@lru_cache(maxsize=1)
def _points(path: Sequence[str]) -> Sequence[EntryPoint]:
    """Read all packages' entry points, which takes 5 ms, once for all families; another path has other packages."""
    return tuple(entry_points(group=GROUP))


def _load(point: EntryPoint, settings: Settings) -> Any:
    return point.load().from_settings(settings)


def _load_added(name: str, point: EntryPoint, settings: Settings) -> Any:
    # A fault of another package must not take our engines away.
    with errors_logged(log, "engine not loaded", engine=point.name, path=point.value) as caught:
        engine = _load(point, settings)
        if engine.name != name:
            raise ValueError(f"its name is {engine.name!r}, not {name!r}")
    if caught:
        return Unloadable(name, f"{point.value} can't be loaded ({type(caught[0]).__name__}: {caught[0]})")
    return engine
