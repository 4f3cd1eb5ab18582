"""On behalf: jobs that nobody has asked for by a request, such as those of a schedule; a key of the account pays."""

import hashlib
from datetime import timedelta
from uuid import UUID

from pipeline.database import Statement
from pipeline.errors import (
    AccountSuspended,
    InsufficientCredits,
    KeyCreditsUsed,
    RateLimitExceeded,
    Unauthorized,
    Unprocessable,
)
from pipeline.jobs.resubmit import lifetimes
from pipeline.kind import AnyKind, Request, as_rows
from pipeline.lifecycle import Submission, Submitted
from pipeline.settings import Settings


def paying_key(account_id: UUID) -> Statement[UUID | None]:
    """Read the key that pays: the last used one, and one without limits before others; None: there is none."""
    return Statement(
        "SELECT id FROM api_key WHERE account_id = %(account)s AND revoked_at IS NULL"
        " ORDER BY num_nonnulls(requests_per_minute, credits_per_month, routes), last_used_at DESC NULLS LAST LIMIT 1",
        {"account": account_id},
        lambda rows: rows[0]["id"] if rows else None,
    )


def submission_of(
    kind: AnyKind,
    request: Request,
    settings: Settings,
    *,
    account_id: UUID,
    api_key_id: UUID,
    request_id: str,
    source: str | None = None,
    route: str | None = None,
) -> Submission:
    """Return a request as a job of an account, by the kind's first route unless another one is given."""
    fields = request.model_dump(mode="json", exclude_unset=True)
    deadline, keep_for = lifetimes(kind, settings)
    return Submission(
        account_id=account_id,
        api_key_id=api_key_id,
        kind=kind.name,
        route=route or kind.routes[0],
        source=source,
        request={name: value for name, value in fields.items() if name not in kind.bulky},
        request_id=request_id,
        request_hash=hashlib.sha256(request_id.encode()).digest(),
        items=as_rows(kind.items(request)),
        deadline=deadline,
        keep_for=keep_for,
        slice_size=kind.limits.slice_size,
        max_open_items=settings.limits.open_items,
    )


def raise_refusal(submitted: Submitted, submission: Submission) -> None:
    """Raise the error of a refused submission; do nothing for one that has a job."""
    match submitted.outcome:
        case "insufficient":
            raise InsufficientCredits(required=submitted.required, remaining=submitted.available or 0)
        case "key_limit":
            raise KeyCreditsUsed(required=submitted.required, remaining=submitted.available or 0)
        case "conflict":
            raise Unprocessable(
                "This Idempotency-Key was sent with another request before; use a new one, also to retry a job.",
                code="idempotency_key_reused",
                field="Idempotency-Key",
            )
        case "too_many":
            raise RateLimitExceeded(
                f"This request has {len(submission.items):,} items and the account has {submitted.open_items or 0:,} "
                f"unfinished; {submission.max_open_items:,} may be unfinished at once. Wait for some to end.",
                code="too_many_open_items",
                retry_after=timedelta(seconds=30),
            )
        case "suspended":
            raise AccountSuspended
        case "unauthorized":
            raise Unauthorized
