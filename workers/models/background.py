"""Background: a process of a pool downloads what suits this machine, while the engines that are there work."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.offers.offers import preferred_engines
from pipeline.operations.model_requests import ModelRequests
from pipeline.operations.processes import downloads
from pipeline.settings import Settings
from workers.models.advice import command, wanted
from workers.models.catalogue import CatalogueModel
from workers.models.fetching import fetch
from workers.models.lock_file import exclusive
from workers.models.machine import gigabytes, this_machine
from workers.models.store import PARTIAL, ModelStore

log = get_logger(__name__)

#: How often a process looks whether an operator asks for a model.
LOOK_SECONDS = 2.0


class BackgroundFetch:
    """The downloads of one family. One process of this machine makes them."""

    def __init__(self, settings: Settings, family: str, store: ModelStore, *, begin_after: timedelta) -> None:
        self._settings = settings.models
        self._own = getattr(settings, family, None)
        self._engines = preferred_engines(settings, family)
        self._requests = ModelRequests.from_settings(settings)
        self._family = family
        self._store = store
        self._begin_after = begin_after
        #: The last message about each model.
        self.faults: dict[str, str] = {}
        #: Is called when a fault has come or gone.
        self.on_change: Callable[[], object] = lambda: None
        #: When a model that requests ask for may be tried again.
        self._demanded: dict[str, float] = {}
        self._guard = threading.Lock()

    def offer(self, engine: str) -> dict[str, Any]:
        """Return which model of an engine an operator may have installed by a button, and its size; maybe none."""
        if self._settings.download == "never":
            return {}
        found = next((model for model in self._automatic() if model.engine == engine), None)
        return {"install": {"model": found.name, "bytes": found.size_bytes}} if found else {}

    def serve_requests(self) -> None:
        """Fetch and remove, in a thread of its own, the models that operators ask for."""
        if self._settings.download != "never" and self._requests.client is not None:
            threading.Thread(target=self._serve_requests, name=f"models of {self._family}", daemon=True).start()

    def demand(self, name: str) -> str:
        """Begin to download a model that a request would use, if it may come; return what becomes of it, for people."""
        model = self._store.catalogue[name]
        what = f"{model.gives[0].upper()}{model.gives[1:]} ({model.name}, {gigabytes(model.size_bytes)})"
        may_come = self._settings.download == "auto" and self._is_used(model) and this_machine().suits(model)
        if not may_come or not (model.on_demand or model.automatic):
            return f"Who runs this service can add more: pressroom models fetch {name} brings {model.gives}."
        if model.automatic:
            return f"{what} comes from the Hugging Face hub alone, as soon as that can be reached."
        with self._guard:
            if time.monotonic() >= self._demanded.get(name, 0.0):
                self._demanded[name] = time.monotonic() + self._settings.retry_minutes * 60
                self.faults.pop(name, None)
                threading.Thread(target=self._fetch, args=(model,), name=f"fetch {name}", daemon=True).start()
        if name in self.faults:  # the fault may name a path or a proxy, and the sentence goes to whoever asks for work
            return f"{what} could not be downloaded and will be tried again. The service's log says why."
        return f"{what} is being downloaded and will serve later requests."

    def start(self) -> None:
        """Do as PRESSROOM_MODELS__DOWNLOAD says: download in a thread of its own, only say how, or nothing."""
        if self._settings.download == "ask" and (models := wanted(self._store, self._family)):
            size = gigabytes(sum(model.size_bytes for model in models))
            log.info("more models suit this machine", family=self._family, fetch=command(models), size=size)
        if self._settings.download == "auto" and self._automatic():
            threading.Thread(target=self._run, name=f"fetch {self._family}", daemon=True).start()

    def _run(self) -> None:
        """Download the automatic models: soon, and every hour until they are here."""
        pause = self._begin_after.total_seconds()
        while self._automatic():
            time.sleep(pause)
            if self._try():
                return
            pause = self._settings.retry_minutes * 60

    def _serve_requests(self) -> None:
        while True:
            request = self._requests.take(self._family)
            if request is None:
                time.sleep(LOOK_SECONDS)
            elif (model := self._store.catalogue.get(request.model)) is None or not model.serves(self._family):
                log.warning("model asked for is none of the family", family=self._family, model=request.model)
            elif request.action == "fetch":
                self._fetch(model)
            else:
                self._remove(model)

    def _remove(self, model: CatalogueModel) -> None:
        try:
            is_removed = self._store.remove(model) | self._store.discard(model)
        except OSError as error:
            self._tell(model.name, f"it can't be removed: {error.strerror or error}")
            return
        log.info("model removed", model=model.name, was_there=is_removed)

    def _automatic(self) -> list[CatalogueModel]:
        return [model for model in wanted(self._store, self._family) if model.automatic and self._is_used(model)]

    def _is_used(self, model: CatalogueModel) -> bool:
        """Return whether the model's engine is one of those that the operator wants, and has no model of its own."""
        own = getattr(self._own, model.engine, None)
        return (not self._engines or model.engine in self._engines) and getattr(own, "model", None) is None

    def _try(self) -> bool:
        """Download each missing model, even if others fail; return whether all are here now."""
        try:
            with exclusive(self._store.root / PARTIAL / f"{self._family}.background", wait=False) as is_held:
                for model in self._automatic() if is_held else ():
                    self._fetch(model)
        except OSError as error:
            self._tell(self._family, str(error))
        return not self._automatic()

    def _fetch(self, model: CatalogueModel) -> None:
        size = gigabytes(model.size_bytes)
        log.info("model being fetched", model=model.name, family=self._family, gives=model.gives, size=size)
        try:
            folder = fetch(
                self._store,
                model,
                stall_seconds=self._settings.stall_seconds,
                on_progress=lambda done, total: downloads.update({model.name: (done, total)}),
                wait=False,
            )
        except PressroomError as error:
            self._tell(model.name, error.message)
            return
        finally:
            downloads.pop(model.name, None)
        if folder is not None:  # None: somebody fetches it by the command
            if self.faults.pop(model.name, None) is not None:
                self.on_change()
            log.info("model fetched", model=model.name, gives=model.gives)

    def _tell(self, what: str, fault: str) -> None:
        # The same reason is told once, not every hour.
        if self.faults.get(what) != fault:
            minutes = self._settings.retry_minutes
            log.warning("model not fetched", family=self._family, model=what, reason=fault, again_in_minutes=minutes)
            self.faults[what] = fault
            self.on_change()
