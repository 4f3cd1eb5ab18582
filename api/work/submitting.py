"""Submitting: a valid request is counted and becomes a job, or a refusal that says what to do."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from api.http.bodies.forms import Upload
from api.http.request_context import RequestContext
from api.services.services import Services
from pipeline.accounts.keys import Caller
from pipeline.errors import PressroomError, ServiceUnavailable
from pipeline.jobs.on_behalf import raise_refusal
from pipeline.jobs.resubmit import lifetimes
from pipeline.kind import AnyKind, as_rows
from pipeline.lifecycle import Priority, Submission, Submitted, submit
from pipeline.lifecycle.jobs import find_replay
from pipeline.limits.rate_limits import AccountLimitExceeded
from pipeline.settings import Settings

#: A submission with more items has a transaction of its own: it takes long, and others would wait for it.
FEW_ITEMS = 32


@dataclass(frozen=True, slots=True)
class Order:
    """A valid request: who pays, how many requests it counts as, its queue, and the job to submit."""

    caller: Caller
    requests: int
    queue: str
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
        file_names: Mapping[str, str],
        settings: Settings,
    ) -> "Order":
        fields = request.model_dump(mode="json", exclude_unset=True)
        deadline, keep_for = lifetimes(kind, settings)
        stored = {name: value for name, value in fields.items() if name not in kind.bulky}
        if (name := kind.name_of(file_names)) is not None:
            stored["name"] = name
        submission = Submission(
            account_id=caller.account_id,
            api_key_id=caller.api_key_id,
            kind=kind.name,
            route=route,
            request=stored,
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
            priority=caller.priority,
            job_id=job_id,
        )
        return cls(caller, kind.counts_as(request), kind.queue, submission)

    def with_priority(self, priority: Priority | None) -> "Order":
        """Return the order with the priority of its request; None: of its key."""
        return self if priority is None else replace(self, submission=replace(self.submission, priority=priority))

    def with_webhook(self, url: str | None, events: Sequence[str] | None) -> "Order":
        """Return the order with a webhook for its job; None leaves it as it was."""
        if url is None and events is None:
            return self
        submission = self.submission
        return replace(
            self,
            submission=replace(
                submission,
                webhook_url=url or submission.webhook_url,
                # Events chosen for another address do not apply to this one.
                webhook_events=events if url or events is not None else submission.webhook_events,
            ),
        )


async def submit_order(
    services: Services, order: Order, context: RequestContext, upload: Upload | None = None, *, alone: bool = False
) -> Submitted:
    """Count the request, make its job, and wake the job's pool.

    `alone`: in a transaction of its own, which ends if the client leaves; so does one with files.
    The files are kept unless no job can want them: the answer may be lost after the commit, and the sweep deletes
    files without a job. Raises AccountLimitExceeded, and what `submit_job` does."""
    is_counted = await _admit(services, order, context)
    if upload is None:
        submitted = await submit_job(services, order.submission, alone=alone)
    else:
        upload.is_wanted = True
        try:
            submitted = await submit_job(services, order.submission, alone=bool(upload.hashes))
        except PressroomError as error:
            upload.is_wanted = isinstance(error, ServiceUnavailable)
            raise
        upload.is_wanted = submitted.outcome == "accepted"
    if submitted.outcome == "accepted":
        services.waker.wake(order.queue)
    elif is_counted:
        await services.limits.give_back(order.caller, order.requests)
    return submitted


async def _admit(services: Services, order: Order, context: RequestContext) -> bool:
    """Count the request. One carried out before is not counted, nor held up. Raises AccountLimitExceeded."""
    try:
        rate_limit = await services.limits.admit(order.caller, order.requests)
    except AccountLimitExceeded as error:
        context.headers.update(error.rate_limit.headers())
        if not await is_replay(services, order.submission):
            raise
        return False
    context.headers.update(rate_limit.headers())
    return True


async def is_replay(services: Services, submission: Submission) -> bool:
    """Return whether the same request was carried out before, under the same Idempotency-Key."""
    if submission.idempotency_key is None:
        return False
    return await services.database.run(
        find_replay(
            submission.account_id,
            route=submission.route,
            idempotency_key=submission.idempotency_key,
            request_hash=submission.request_hash,
            window=submission.idempotency_window,
        )
    )


async def submit_job(services: Services, submission: Submission, *, alone: bool) -> Submitted:
    """Make the job, or name the one that the same Idempotency-Key made first.

    Raises InsufficientCredits, KeyCreditsUsed, Unprocessable, RateLimitExceeded, Unauthorized, AccountSuspended."""
    statement = submit(submission)
    if alone or len(submission.items) > FEW_ITEMS:
        submitted = await services.database.run(statement)
    else:
        submitted = await services.submissions.run(statement, order=f"{submission.account_id} {submission.kind}")
    raise_refusal(submitted, submission)
    return submitted


def _hash(fields: Mapping[str, Any], file_hashes: Mapping[str, str]) -> bytes:
    canonical = json.dumps([fields, file_hashes], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).digest()
