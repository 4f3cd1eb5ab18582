"""Family: the engines of one family in a process. Each is set up once, however many handlers use it.

When models arrive on this machine, engines that lacked them are set up, and those that take more voices look for them:
nobody has to restart a pool."""

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pipeline.errors import NotReady
from pipeline.log import errors_logged, get_logger
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from pipeline.settings.endpoints import EndpointSettings
from workers.engines import EngineBusy
from workers.engines.circuit_breaker import ignore
from workers.engines.registry import list_endpoints, load_engines
from workers.models.background import BackgroundFetch
from workers.models.store import ModelStore

log = get_logger(__name__)

#: Shown for an engine behind a network while it is unavailable.
AWAY = "it can't be reached at the moment"
#: Shown for an engine while it loads.
LOADING = "its model is being loaded"
#: How often a process looks whether models have arrived; a look lists one folder.
LOOK_EVERY = timedelta(seconds=5)
#: Downloads begin so long after the start: the first requests, and what else starts, come first.
FETCH_AFTER = timedelta(seconds=20)


class Family:
    """Engines in order of preference. The offer of an engine that can't be set up says what it needs."""

    def __init__(
        self,
        settings: Settings,
        name: str,
        *,
        store: ModelStore | None = None,
        look_every: timedelta = LOOK_EVERY,
        fetch_after: timedelta = FETCH_AFTER,
    ) -> None:
        self._settings = settings
        self.name = name
        self._store = store or ModelStore(settings)
        self._look_every = look_every
        self._fetch = BackgroundFetch(settings, name, self._store, begin_after=fetch_after)
        change = weakref.WeakMethod(self._change)
        self._fetch.on_change = lambda: (change() or ignore)()
        self._stamp = self._store.stamp()
        self._endpoints = dict(settings.endpoints)
        self._lock = threading.Lock()
        self._is_set_up = False
        self._names: list[str] = []
        self._needs: dict[str, str] = {}
        self._ready: Mapping[str, Any] = {}
        self._watchers: list[Callable[[], None]] = []

    def setup(self) -> None:
        """Set up every engine that can be, once, and look for models from then on. Raises NotReady when none can."""
        with self._lock:
            if not self._is_set_up:
                # Asked first: a model that arrives meanwhile is looked at again.
                self._stamp, self._endpoints = self._store.stamp(), dict(self._settings.endpoints)
                self._set_up_engines(late=False)
                self._is_set_up = True
                self._start_looking()
        if not self._ready:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))

    @property
    def is_loading(self) -> bool:
        """Return whether an engine is being set up that will be ready within seconds."""
        return LOADING in self._needs.values()

    @property
    def engines(self) -> Sequence[Any]:
        """Return the engines that are ready, the preferred one first."""
        return list(self._ready.values())

    def engine(self, name: str) -> Any:
        """Return the engine of that name. Raises EngineBusy if it has left since it was offered."""
        if (engine := self._ready.get(name)) is None:
            raise EngineBusy(f"The engine {name} is just being exchanged.", retry_after=timedelta(seconds=1))
        return engine

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, whenever the offer of an engine has changed."""
        self._watchers.append(on_change)

    def offers(self) -> Sequence[Offer]:
        """Return each engine's offer, or its needs."""
        return [self._offer(name, place) for place, name in enumerate(self._names)]

    def demand(self, model: str) -> str:
        """Let a model come that a request would use; return what becomes of it, in a sentence for people."""
        return self._fetch.demand(model)

    def look(self) -> bool:
        """Look for models that have arrived or left since the last look; return whether an offer may have changed."""
        with self._lock:
            stamp, endpoints = self._store.stamp(), dict(self._settings.endpoints)
            if stamp == self._stamp and endpoints == self._endpoints and not self.is_loading:
                return False
            self._stamp = stamp
            self._drop_changed(endpoints)
            self._refresh()
            self._set_up_engines()
        self._change()
        return True

    def _drop_changed(self, endpoints: dict[str, EndpointSettings]) -> None:
        """Leave engines whose endpoints have changed or gone; requests that are on their way end first."""
        changed = {name for name, known in self._endpoints.items() if endpoints.get(name) != known}
        for name in changed & self._ready.keys():
            engine = self._ready[name]
            engine.breaker.stop()
            ending = threading.Timer(self._endpoints[name].limit_seconds, engine.close)
            ending.daemon = True
            ending.start()
        self._ready = {name: engine for name, engine in self._ready.items() if name not in changed}
        self._needs = {name: needs for name, needs in self._needs.items() if name not in changed}
        self._endpoints = endpoints

    def _set_up_engines(self, *, late: bool = True) -> None:
        """Set up the engines that are not ready, those that load for seconds last: the others work meanwhile.

        `late`: whether those are set up at all. Without any other engine, they are."""
        engines = load_engines(self._settings, self.name)
        self._names = [engine.name for engine in engines]
        ready = {}
        for engine in engines:
            if (known := self._ready.get(engine.name)) is not None:
                ready[engine.name] = known
            elif getattr(engine, "loads_long", False) and engine.readiness() is None and not late:
                self._needs[engine.name] = LOADING
            elif self._set_up(engine):
                ready[engine.name] = engine
        if not ready and LOADING in self._needs.values():
            ready = {engine.name: engine for engine in engines if self._set_up(engine)}
        new = [engine for name, engine in ready.items() if name not in self._ready]
        self._ready = ready
        # Not earlier: when an engine changes, the offers of all engines are read.
        for engine in new:
            if hasattr(engine, "watch"):
                engine.watch(self._change)

    def _set_up(self, engine: Any) -> bool:
        try:
            needs = engine.readiness()
            if needs is not None:
                raise NotReady(needs)
            if getattr(engine, "loads_long", False):
                self._needs[engine.name] = LOADING
            engine.setup()
        except NotReady as error:
            if self._needs.get(engine.name) != error.message:
                log.info("engine not ready", family=self.name, engine=engine.name, needs=error.message)
            self._needs[engine.name] = error.message
            return False
        if self._needs.pop(engine.name, None) is not None:
            log.info("engine ready now", family=self.name, engine=engine.name)
        return True

    def _refresh(self) -> None:
        """Let engines that are ready look for more models."""
        for name, engine in self._ready.items():
            if not hasattr(engine, "refresh"):
                continue
            try:
                if engine.refresh():
                    log.info("engine offers more", family=self.name, engine=name)
            except NotReady as error:
                # The models that it had go on working.
                log.warning("model not used", family=self.name, engine=name, needs=error.message)

    def _change(self) -> None:
        for on_change in list(self._watchers):
            on_change()

    def _offer(self, name: str, place: int) -> Offer:
        """Return an engine's offer, by its methods `offer` and `is_available`, which are optional."""
        fetchable = {**self._models(name), **self._fetchable(name), **self._fetch.offer(name)}
        if (engine := self._ready.get(name)) is None:
            return Offer(self.name, name, ready=False, needs=self._needs.get(name), content=fetchable, place=place)
        content = dict(engine.offer()) if hasattr(engine, "offer") else {}
        is_available = not hasattr(engine, "is_available") or engine.is_available()
        needs = None if is_available else getattr(engine, "away", AWAY)
        return Offer(self.name, name, is_available, needs, content | fetchable, place)

    def _models(self, name: str) -> dict[str, Any]:
        """Return which models of the catalogue the engine has here, for operators."""
        here = [model.name for model in self._store.here(self.name, name)]
        return {name: found for name, found in (("stock", self._stock(name)), ("models", here)) if found}

    def _stock(self, name: str) -> list[dict[str, Any]]:
        """Return the models of an engine, here or not, with their sizes, and what kept each from coming."""
        here, missing = self._store.here(self.name, name), self._store.missing(self.name, name)
        return [
            {
                "model": model.name,
                "bytes": model.size_bytes,
                "gives": model.gives,
                "licence": model.licence,
                "is_here": model in here,
                "is_removable": self._store.is_downloaded(model),
                "fault": self._fetch.faults.get(model.name),
            }
            for model in (*here, *missing)
        ]

    def _fetchable(self, name: str) -> dict[str, Any]:
        """Return which models would give the engine more, for errors that name the command which brings them."""
        own = getattr(getattr(self._settings, self.name, None), name, None)
        is_set = getattr(own, "model", None) is not None  # then no other model is run, whatever is fetched
        missing = () if is_set else self._store.missing(self.name, name)
        if not missing:
            return {}
        listed = [
            {"model": model.name, "languages": list(model.languages), "voices": list(model.voices)}
            | ({"on_demand": True} if model.on_demand else {})
            for model in missing
        ]
        return {"fetchable": listed}

    def _start_looking(self) -> None:
        if not any(model.serves(self.name) for model in self._store.catalogue.values()):
            return
        # The thread knows its family only while it looks, so that it ends with it.
        known, seconds, ended = weakref.ref(self), self._look_every.total_seconds(), threading.Event()
        weakref.finalize(self, ended.set)
        threading.Thread(
            target=_keep_looking, args=(known, seconds, ended), name=f"models {self.name}", daemon=True
        ).start()
        self._fetch.serve_requests()
        # A model of an endpoint comes first: whoever named it needs none here.
        if not list_endpoints(self._settings, self.name):
            self._fetch.start()


def _keep_looking(known: "weakref.ref[Family]", seconds: float, ended: threading.Event) -> None:
    wait = 0.0  # engines that load for seconds wait for the first look
    while not ended.wait(wait):
        wait = seconds
        family = known()
        if family is None:
            return
        with errors_logged(log, "models not looked for", family=family.name):
            family.look()
        del family
