"""Answers: what the service answers to a command, read, and asked for again while it is busy or restarts."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

import aiohttp
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_before_delay, wait_random_exponential

from pipeline.errors import NotReady, PressroomError
from pipeline.retry_after import read_retry_after

JITTER = wait_random_exponential(multiplier=0.2, max=5)
#: Statuses after which the same request may succeed.
TEMPORARY = frozenset((429, 502, 503, 504))
CONNECTION_LOST = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Refused(PressroomError):
    """The service answered with an error, of this HTTP status."""

    code = "refused"

    def __init__(self, message: str, *, answered: int | None = None) -> None:
        super().__init__(message)
        self.answered = answered

    @property
    def is_of_account(self) -> bool:
        """Whether the next request would be answered alike: the key, the balance."""
        return self.answered in {401, 402, 403}


class Busy(Exception):
    """The service asks for a pause, of a length that it names or not."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


async def read_answer(response: aiohttp.ClientResponse) -> Any:
    """Return the answer's JSON. Raises Busy, Refused."""
    text = await response.text()
    if response.status < 400:
        try:
            return json.loads(text)
        except ValueError as error:
            raise no_pressroom() from error
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        message = text[:200]
    if response.status in TEMPORARY:
        wait = read_retry_after(response.headers.get("Retry-After", "")) or timedelta()
        asked = f" It asks for {wait.total_seconds():,.0f} seconds of patience: try again then." if wait else ""
        raise Busy(f"The service answered {response.status}: {message}{asked}", wait)
    raise Refused(f"The service answered {response.status}: {message}", answered=response.status)


def no_pressroom() -> Refused:
    """Return the error for an answer that Pressroom would not give."""
    return Refused("What answers at that address is no Pressroom. Say where it is with --url.")


async def ask_until_answered(
    patience: timedelta, ask: Callable[Asked, Awaitable[Answer]], *arguments: Asked.args, **options: Asked.kwargs
) -> Answer:
    """Repeat a request until there is an answer, at most for `patience`, and never in a pause that the service names.

    Raises NotReady."""
    retrying = AsyncRetrying(
        retry=retry_if_exception_type((Busy, *CONNECTION_LOST)),
        # A longer pause than that is not begun: the user is told of it at once.
        stop=stop_before_delay(patience),
        wait=_wait,
        reraise=True,
    )
    try:
        return await retrying(ask, *arguments, **options)
    except Busy as error:
        raise NotReady(str(error)) from error
    except (TimeoutError, aiohttp.ClientError) as error:
        raise NotReady(f"The service can't be reached: {error or type(error).__name__}.") from error


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.wait.total_seconds() if isinstance(error, Busy) else 0.0
    return asked + JITTER(state)
