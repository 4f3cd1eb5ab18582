"""Circuit breaker of an engine behind a network: whether the engine can be used now, by the last probe.

It is open at first, and after a failure: then the engine is not used. A probe follows after a pause, and another after
each that fails; the first that succeeds closes it. Probes run in a thread of their own, so no request waits for one."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from pipeline.log import get_logger
from workers.engines import EngineUnavailable

log = get_logger(__name__)

#: Interval at which a working service is probed again, since its offer may change.
REFRESH = timedelta(hours=24)


def ignore() -> None:
    """Do nothing: the `on_change` of a caller that has none."""


class CircuitBreaker:
    """Closed by probes alone, never by a request. `probe` raises EngineUnavailable; `clock` gives seconds."""

    def __init__(
        self,
        engine: str,
        probe: Callable[[], None],
        *,
        pause: timedelta,
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = ignore,
    ) -> None:
        self._engine = engine
        self._probe = probe
        self._pause = pause
        self._clock = clock
        self._on_change = on_change
        self._reason: str | None = "it has not been reached yet"
        self._due = clock()
        self._changed = threading.Condition()
        self._is_stopped = False

    def start(self) -> None:
        """Probe in the background from now on."""
        threading.Thread(target=self._keep_probing, name=f"{self._engine} probe", daemon=True).start()

    def stop(self) -> None:
        """Stop probing, once a probe that runs has ended."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def is_available(self) -> bool:
        """Return whether the engine can be used now."""
        return self._reason is None

    @property
    def reason(self) -> str | None:
        """Return why the engine can't be used now; None: it can."""
        return self._reason

    def require(self) -> None:
        """Raise EngineUnavailable unless the engine can be used now."""
        reason = self._reason
        if reason is not None:
            # At least some seconds: a probe takes some, too.
            wait = timedelta(seconds=max(5, round(self._due - self._clock())))
            raise EngineUnavailable(
                f"The engine {self._engine} is unavailable: {reason}. Try again later, or leave the voice out.",
                retry_after=wait,
            )

    def failed(self, reason: str, *, certain: bool = True) -> None:
        """Open the breaker. If it is not `certain` that the engine has failed, a probe is made at once."""
        with self._changed:
            if self._reason is not None:
                return
            self._reason = reason
            self._due = self._clock() + (self._pause.total_seconds() if certain else 0)
            self._changed.notify_all()
        log.warning("engine unavailable", engine=self._engine, reason=reason, certain=certain)
        self._on_change()

    def check(self) -> None:
        """Probe, if it is time to."""
        if self._clock() < self._due:
            return
        try:
            self._probe()
        except EngineUnavailable as error:
            self._note(getattr(error, "reason", error.message), self._pause)
        else:
            self._note(None, REFRESH)

    def _note(self, reason: str | None, again: timedelta) -> None:
        before, self._reason = self._reason, reason
        self._due = self._clock() + again.total_seconds()
        if (before is None) != (reason is None):
            log.info("engine probed", engine=self._engine, available=reason is None, reason=reason)
            self._on_change()

    def _keep_probing(self) -> None:
        while not self._is_stopped:
            self.check()
            with self._changed:
                if not self._is_stopped:
                    self._changed.wait(max(0, self._due - self._clock()))
