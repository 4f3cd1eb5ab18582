"""Outcomes: a handler's outcome as the life cycle stores it."""

import errno
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pipeline import lifecycle
from pipeline.errors import PressroomError
from pipeline.kind import as_json
from pipeline.marks.receipts import PROVENANCE, TokenCount, provenance
from workers.engines import EngineBusy
from workers.handler import Done, Failed, Outcome, Release, Retry
from workers.models.store import hash_of

#: Tries of an item whose handler raises an unexpected exception.
MAX_TRIES = 2
RETRY_UNKNOWN_AFTER = timedelta(seconds=2)
#: Pauses, in seconds, between tries of an item that failed by a fault of ours that passes, such as a database that is
#: away; the last one until the job's deadline.
RETRY_PASSING_AFTER = (2, 4, 8, 15, 30, 60, 120, 300)
#: How long an item waits for a service that asked for a pause and named no time.
PAUSE = timedelta(seconds=10)
#: Errors of a machine that lacks room, files or memory for a while.
LACKING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})


class MachineLacking(PressroomError):
    """A worker's machine lacks room or memory for a while."""

    code = "machine_lacking"
    passes = True


def unforeseen(error: Exception, *, attempts: int) -> Outcome[Any]:
    """Return the outcome of an item whose handler raised an unexpected exception."""
    said = f"The work failed unexpectedly ({type(error).__name__}). Nothing was charged for it."
    if isinstance(error, OSError) and error.errno in LACKING:
        return Failed(MachineLacking(said))
    failure = PressroomError(said)
    return Failed(failure) if attempts + 1 >= MAX_TRIES else Retry(RETRY_UNKNOWN_AFTER, failure)


def unless_passing(outcome: Outcome[Any], *, attempts: int) -> Outcome[Any]:
    """Return the outcome, or a retry if the failure will pass; `attempts` are those before."""
    match outcome:
        case Failed(error, credits=0) if error.passes:
            pause = RETRY_PASSING_AFTER[min(attempts, len(RETRY_PASSING_AFTER) - 1)]
            return Retry(timedelta(seconds=pause), error)
        case Failed(EngineBusy() as error, credits=0):
            return Release(error.retry_after or PAUSE)
    return outcome


def to_row(
    item_id: int,
    price: int,
    outcome: Outcome[Any],
    *,
    hashes: Mapping[str, str] | None = None,
    tokens: Mapping[str, TokenCount] | None = None,
) -> lifecycle.Outcome:
    """Return an outcome as the life cycle stores it, with the `hashes` of its files and its tokens for the receipt.

    Raises ValueError for credits beyond the price."""
    match outcome:
        case Done(output, engine, credits, models):
            earned = price if credits is None else credits
            if not 0 <= earned <= price:
                raise ValueError(f"{earned} credits were earned of an item that costs {price}.")
            stored = as_json(output)
            if hashes or models or tokens:
                stored[PROVENANCE] = provenance(hashes or {}, {name: hash_of(name) for name in models}, tokens or {})
            return lifecycle.Outcome(item_id, "done", earned, output=stored, engine=engine)
        case Failed(error, credits):
            return lifecycle.Outcome(item_id, "failed", min(credits, price), error=error_row(error))
        case Retry(after, error):
            return lifecycle.Outcome(item_id, "retry", error=error_row(error), after=after)
        case Release(after, lane):
            return lifecycle.Outcome(item_id, "release", after=after, lane=lane)


def error_row(error: PressroomError) -> dict[str, Any]:
    """Return an error as an item stores it, with its HTTP status and Retry-After."""
    row = {"status": int(error.status), **error.document()}
    if error.retry_after is not None:
        row["retry_after_seconds"] = max(1, round(error.retry_after.total_seconds()))
    return row
