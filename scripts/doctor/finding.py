"""Finding: one thing that the doctor looked at, and how it is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import psycopg
from redis.exceptions import RedisError

from pipeline.errors import PressroomError


class Mark(StrEnum):
    """How something is. What is ABSENT is nothing that the service can't do without."""

    READY = "ok"
    ABSENT = "--"
    MISSING = "!!"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; one that is MISSING makes the command fail."""

    subject: str
    mark: Mark
    detail: str


def checked(subject: str, check: Callable[[], str], *, otherwise: Mark = Mark.MISSING) -> Finding:
    """Return what a check says, or why it failed."""
    try:
        return Finding(subject, Mark.READY, check())
    except PressroomError as error:
        return Finding(subject, otherwise, error.message)
    except (psycopg.Error, RedisError, OSError, ValueError) as error:  # ValueError: a URL that is none
        return Finding(subject, otherwise, f"{type(error).__name__}: {error}")
