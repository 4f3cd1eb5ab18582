"""Breakers: services that pools ask, whether each answers, and until when one that refused us is left alone."""

from dataclasses import dataclass
from datetime import datetime, timedelta

#: One that answered within this time is ready; of others it is not known.
ANSWER_LASTS = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Breaker:
    """A service as the database knows it. `name` tells keys and addresses of one service apart.

    `now` is the database's time, which all others of it are measured by."""

    name: str
    service: str
    state: str
    is_resting: bool
    until: datetime | None
    reason: str  # in words; empty: it is well
    cause: str  # the code of the reason, with what it leaves open: config:credits

    answered_at: datetime | None
    now: datetime

    @property
    def has_answered(self) -> bool:
        """Whether it gave an answer of late, and so is ready."""
        return self.answered_at is not None and self.now - self.answered_at < ANSWER_LASTS
