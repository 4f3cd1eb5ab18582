"""Rounds: work that any thread may request; one thread at a time does it for all that have asked."""

from collections.abc import Callable
from typing import Generic, TypeVar

from pipeline.database.coalescing import Batches

#: The type of the container in which rounds leave work for the asking thread.
Takes = TypeVar("Takes")


class Rounds(Generic[Takes]):
    """Makes rounds. `make` makes one for the asking thread, and returns whether to make another at once."""

    def __init__(self, make: Callable[[Takes], bool]) -> None:
        self._make = make
        self._asked: Batches[None] = Batches()

    def ask(self, takes: Takes) -> bool:
        """Make rounds until nobody asks for more; return False at once if another thread is making them.

        An error of a round is raised after the rounds that others asked for meanwhile."""
        if not self._asked.add(None):
            return False
        self._make_rounds(takes)
        return True

    def _make_rounds(self, takes: Takes) -> None:
        while self._asked.take():
            is_made = False
            try:
                if self._make(takes):
                    self._asked.add(None)
                is_made = True
            finally:
                if not is_made:
                    self._make_rounds(takes)
