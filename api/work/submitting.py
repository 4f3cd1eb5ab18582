"""Submitting: a checked request becomes a job, or a refusal that says what to do."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from api.services.services import Services
from pipeline.accounts.keys import Caller
from pipeline.errors import (
    AccountSuspended,
    InsufficientCredits,
    KeyCreditsUsed,
    RateLimitExceeded,
    Unauthorized,
    Unprocessable,
)
from pipeline.jobs.resubmit import lifetimes
from pipeline.kind import AnyKind, as_rows
from pipeline.lifecycle import Submission, Submitted, submit
from pipeline.settings import Settings

#: A submission with more items has a transaction of its own: it takes long, and others would wait for it.
FEW_ITEMS = 32


class IdempotencyKeyReused(Unprocessable):
    """The Idempotency-Key stands for another request."""

    code = "idempotency_key_reused"
    field = "Idempotency-Key"


class TooManyOpenItems(RateLimitExceeded):
    """The account has more unfinished work than it may have at once."""

    code = "too_many_open_items"


@dataclass(frozen=True, slots=True)
class Order:
    """A request that is in order: who pays, how many requests it counts as, and the job it shall become."""

    caller: Caller
    requests: int
    submission: Submission

    @classmethod
    def of(
        cls,
        kind: AnyKind,
        route: str,
        caller: Caller,
        request: BaseModel,
        *,
        job_id: UUID,
        request_id: str,
        idempotency_key: str | None,
        file_hashes: Mapping[str, str],
        settings: Settings,
    ) -> "Order":
        """Return the order of a checked request."""
        fields = request.model_dump(mode="json", exclude_unset=True)
        deadline, keep_for = lifetimes(kind, settings)
        submission = Submission(
            account_id=caller.account_id,
            api_key_id=caller.api_key_id,
            kind=kind.name,
            route=route,
            request={name: value for name, value in fields.items() if name not in kind.bulky},
            request_id=request_id,
            request_hash=_hash(fields, file_hashes),
            items=as_rows(kind.items(request)),
            deadline=deadline,
            keep_for=keep_for,
            slice_size=kind.limits.slice_size,
            source=getattr(request, "source", None),
            idempotency_key=idempotency_key,
            idempotency_window=timedelta(hours=settings.limits.idempotency_hours),
            max_open_items=settings.limits.open_items,
            job_id=job_id,
        )
        return cls(caller, kind.counts_as(request), submission)

    def with_webhook(self, url: str | None, events: Sequence[str] | None) -> "Order":
        """Return the order with an address that is told of its job's end; None: as it was."""
        if url is None and events is None:
            return self
        submission = self.submission
        return replace(
            self,
            submission=replace(
                submission,
                webhook_url=url or submission.webhook_url,
                # The events of another address are not those of this one.
                webhook_events=events if url or events is not None else submission.webhook_events,
            ),
        )


async def submit_job(submission: Submission, services: Services, *, alone: bool = False) -> Submitted:
    """Make the job, or name the one that the same Idempotency-Key made first.

    `alone`: in a transaction of its own, which ends with a client that leaves meanwhile.
    Raises InsufficientCredits, KeyCreditsUsed, IdempotencyKeyReused, TooManyOpenItems, Unauthorized,
    AccountSuspended."""
    statement = submit(submission)
    if alone or len(submission.items) > FEW_ITEMS:
        submitted = await services.database.run(statement)
    else:
        submitted = await services.submissions.run(statement, order=f"{submission.account_id} {submission.kind}")
    match submitted.outcome:
        case "insufficient":
            raise InsufficientCredits(required=submitted.required, remaining=submitted.available or 0)
        case "key_limit":
            raise KeyCreditsUsed(required=submitted.required, remaining=submitted.available or 0)
        case "conflict":
            raise IdempotencyKeyReused(
                "This Idempotency-Key was sent with another body before; use a new one for a new request."
            )
        case "too_many":
            raise TooManyOpenItems(
                f"This request has {len(submission.items):,} items and the account has {submitted.open_items or 0:,} "
                f"unfinished; {submission.max_open_items:,} may be unfinished at once. Wait for some to end.",
                retry_after=timedelta(seconds=30),
            )
        case "suspended":
            raise AccountSuspended
        case "unauthorized":
            raise Unauthorized
    return submitted


def _hash(fields: Mapping[str, Any], file_hashes: Mapping[str, str]) -> bytes:
    canonical = json.dumps([fields, file_hashes], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).digest()
