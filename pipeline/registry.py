"""The registry: all kinds, of our capabilities and of other packages, by name."""

import importlib
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points

from pipeline.capabilities import parts
from pipeline.errors import NotReady
from pipeline.kind import AnyKind
from pipeline.settings import Settings

Kinds = Mapping[str, AnyKind]

#: Entry points of other people's packages: `word_count = "their_package:WordCount"`.
GROUP = "pressroom.kinds"


def own_kinds() -> list[AnyKind]:
    return [kind for part in parts("kinds") for kind in part.KINDS]


def load_kinds(settings: Settings) -> Kinds:
    """Return all kinds by name: ours, those of installed packages, and those that the settings name. Raises NotReady.

    A kind of somebody else can't take the name or a route of ours."""
    kinds: dict[str, AnyKind] = {}
    routes: dict[str, str] = {}
    for kind in (*own_kinds(), *_added(settings)):
        if taken := [route for route in kind.routes if route in routes] or [kind.name] * (kind.name in kinds):
            raise NotReady(f"The kind {kind.name} of {type(kind).__module__} can't have {taken[0]}: it is taken.")
        kinds[kind.name] = kind.configured(settings)
        routes |= dict.fromkeys(kind.routes, kind.name)
    return kinds


def queues(kinds: Kinds) -> list[str]:
    return list(dict.fromkeys(kind.queue for kind in kinds.values()))


def lanes_of(kinds: Kinds) -> Kinds:
    """Return the lanes of some kinds, each with a kind whose items are in it; all such kinds have one handler."""
    return {lane: kind for kind in kinds.values() for lane in kind.lanes or (kind.name,)}


def owners_of(kinds: Kinds) -> Mapping[str, str | None]:
    """Return the only kind of each lane; None: several share it."""
    named = [(lane, kind.name) for kind in kinds.values() for lane in kind.lanes or (kind.name,)]
    shared = {lane for lane, number in Counter(lane for lane, _ in named).items() if number > 1}
    return {lane: None if lane in shared else name for lane, name in named}


def _added(settings: Settings) -> Iterator[AnyKind]:
    for entry_point in entry_points(group=GROUP):
        yield _load(entry_point.value, source=f"The entry point {entry_point.name} of {GROUP}")
    for path in settings.kinds.split(","):
        if path.strip():
            yield _load(path.strip(), source="PRESSROOM_KINDS")


def _load(path: str, *, source: str) -> AnyKind:
    module, _, name = path.partition(":")
    try:
        kind: AnyKind = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise NotReady(f"{source} names {path!r}, which can't be loaded: {error}") from error
    return kind
