"""Rounds: what any thread may ask for, and one at a time does for all that asked meanwhile."""

import threading
from collections.abc import Callable


class Rounds:
    """Makes rounds; `make` makes one, and returns whether another is called for at once."""

    def __init__(self, make: Callable[[], bool]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._is_asked = False
        self._is_making = False

    def ask(self) -> bool:
        """Make rounds until nobody has asked since the last began; while another thread does, return False at once.

        Raises what a round raised, after those that were asked for meanwhile."""
        with self._lock:
            self._is_asked = True
            if self._is_making:
                return False
            self._is_making = True
        failure: Exception | None = None
        try:
            while self._begin():
                failure = self._try() or failure
        except BaseException:  # the thread is being ended
            self._is_making = False
            raise
        if failure is not None:
            raise failure
        return True

    def _try(self) -> Exception | None:
        try:
            if self._make():
                self._is_asked = True
        except Exception as error:  # noqa: BLE001  it is raised by ask()
            return error
        return None

    def _begin(self) -> bool:
        """Return whether a round was asked for; when none was, the next to ask makes it."""
        with self._lock:
            self._is_making, self._is_asked = self._is_asked, False
            return self._is_making
