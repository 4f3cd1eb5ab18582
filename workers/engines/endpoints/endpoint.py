"""Endpoint: the base class of engines on a server of the operator's."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Self
from urllib.parse import urlsplit

from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.settings.endpoints import SENT
from workers.engines import EngineUnavailable, Stopped
from workers.engines.circuit_breaker import CircuitBreaker, ignore
from workers.engines.endpoints.client import STOP_CHECK_SECONDS, EndpointClient
from workers.engines.endpoints.errors import BUSY_PAUSE, EndpointBusy, EndpointFailed, ModelUnknown

log = get_logger(__name__)

#: Names of models that a sentence lists.
LISTED = 8
#: Characters of a model's name; Hugging Face allows 96, and folders may be before it.
LONGEST_NAME = 300


class EndpointEngine:
    """An engine behind a network. Probes ask the server for its models; a lasting failure opens the breaker."""

    #: The setting that names the model of the family: captions, posts, covers, speech or transcripts.
    use: str

    def __init__(self, settings: Settings, name: str) -> None:
        self.name = name
        self._settings = settings
        own = settings.endpoints[name]
        self.model: str = getattr(own, self.use)
        self.client = EndpointClient(name, own)
        #: Callers at once; the client limits their requests.
        self.places = own.slots
        self.models: tuple[str, ...] = ()
        #: A note for the operator, although the server answers.
        self.fault = ""
        self._on_change: Callable[[], None] = ignore
        self.pause = timedelta(seconds=own.pause_seconds)
        self.breaker = CircuitBreaker(name, self.probe, pause=self.pause, on_change=lambda: self._on_change())

    @classmethod
    def from_endpoint(cls, settings: Settings, name: str) -> Self:
        """Return the engine for the endpoint of that name."""
        return cls(settings, name)

    def readiness(self) -> str | None:
        """Return why it is not to be used; None: it is, and probes tell whether the server can be reached."""
        return getattr(self.client.settings, "fault", "") or None

    def setup(self) -> None:
        """Start to probe in the background, after a first probe."""
        self.breaker.check()
        self.breaker.start()

    def close(self) -> None:
        """Stop probing, and close the connections."""
        self.breaker.stop()
        self.client.close()

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, when the engine's availability or offer has changed."""
        self._on_change = on_change

    def is_available(self) -> bool:
        """Return whether the server answered last."""
        return self.breaker.is_available()

    @property
    def away(self) -> str:
        """Return why the server can't be used now."""
        return f"the server {self.breaker.reason}"

    def require(self) -> None:
        """Raise EngineUnavailable unless the server answered last."""
        if (reason := self.breaker.reason) is not None:
            raise EngineUnavailable(f"The endpoint {self.name} is unavailable: it {reason}.", retry_after=self.pause)

    @property
    def promise(self) -> str:
        """Return which work leaves this machine for which host, for operators."""
        return f"sends {SENT[self.use]} to {urlsplit(self.client.settings.url).netloc}"

    def offer(self) -> Mapping[str, Any]:
        """Return the model, and that the work leaves this machine."""
        return {"model": self.model, "local": False} | ({"warning": self.fault} if self.fault else {})

    def probe(self) -> None:
        """Ask the server for its models. Raises EndpointFailed."""
        try:
            listed = self.client.get("/models")
        except ModelUnknown:
            return  # not every server lists its models
        entries = listed.get("data") if isinstance(listed, dict) else None
        listed = entries if isinstance(entries, list) else []
        names = [_shown(str(entry.get("id"))) for entry in listed if isinstance(entry, dict)]
        self.models = tuple(names)
        self.fault = ""
        if names and not any(_same(name, self.model) for name in names):
            self.fault = f"the server does not list the model {self.model}; it lists {', '.join(names[:LISTED])}"
            log.warning("endpoint does not list the model", endpoint=self.name, model=self.model, models=names[:20])

    def rest(self, busy: EndpointBusy, *, ends: float, stop: Callable[[], bool]) -> None:
        """Wait as long as the server asks: a part of the work is done and paid, and would be done anew with its item.

        Raises `busy` if that lasts until after `ends`, in monotonic seconds, and Stopped."""
        resumes = time.monotonic() + (busy.retry_after or BUSY_PAUSE).total_seconds()
        if resumes > ends:
            raise busy
        while (left := resumes - time.monotonic()) > 0:
            if stop():
                raise Stopped
            time.sleep(min(left, STOP_CHECK_SECONDS))

    def failed(self, error: EndpointFailed) -> None:
        """Open the breaker if the next request would fail as well."""
        if error.lasting:
            self.breaker.failed(error.reason)


def _shown(name: str) -> str:
    """Return a name as a page, a terminal and the database can have it: they take no NUL and no half character."""
    return "".join(filter(str.isprintable, name[:LONGEST_NAME]))


def _same(listed: str, model: str) -> bool:
    """Compare names of models as Ollama does, which lists `llava:latest` for `llava`."""
    return listed.removesuffix(":latest") == model.removesuffix(":latest")
