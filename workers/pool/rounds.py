"""Rounds: work that any thread may ask for, done by one thread at a time for all that asked meanwhile."""

from collections.abc import Callable
from typing import Generic, TypeVar

from pipeline.database.coalescing import Batches

#: What the thread that asks takes away from the rounds that it makes.
Takes = TypeVar("Takes")


class Rounds(Generic[Takes]):
    """Makes rounds; `make` makes one for the thread that asks, and returns whether another is wanted at once."""

    def __init__(self, make: Callable[[Takes], bool]) -> None:
        self._make = make
        self._asked: Batches[None] = Batches()

    def ask(self, takes: Takes) -> bool:
        """Make rounds until nobody has asked since the last began; False at once where another thread is doing so.

        Raises what a round raised, after the rounds that were asked for meanwhile."""
        if not self._asked.add(None):
            return False
        failure: Exception | None = None
        try:
            while self._asked.take():
                failure = self._try(takes) or failure
        except BaseException:  # the thread is being ended
            self._asked.abandon()
            raise
        if failure is not None:
            raise failure
        return True

    def _try(self, takes: Takes) -> Exception | None:
        try:
            if self._make(takes):
                self._asked.add(None)
        except Exception as error:  # noqa: BLE001  it is raised by ask()
            return error
        return None
