"""Finding: the result of one of the doctor's checks."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import psycopg
from redis.exceptions import RedisError

from pipeline.errors import PressroomError


class Mark(StrEnum):
    """The state of something; the service can do without what is ABSENT."""

    READY = "ok"
    ABSENT = "--"
    MISSING = "!!"


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one thing; MISSING makes the command fail."""

    subject: str
    mark: Mark
    detail: str


def checked(subject: str, check: Callable[[], str], *, otherwise: Mark = Mark.MISSING) -> Finding:
    """Return the result of a check, or why it failed."""
    try:
        return Finding(subject, Mark.READY, check())
    except PressroomError as error:
        return Finding(subject, otherwise, error.message)
    except (psycopg.Error, RedisError, OSError, ValueError) as error:  # ValueError: a malformed URL
        return Finding(subject, otherwise, f"{type(error).__name__}: {error}")
