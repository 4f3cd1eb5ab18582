"""Refusals: why a submission made no job, as errors that say what to do."""

from datetime import timedelta

from pipeline.errors import (
    AccountSuspended,
    InsufficientCredits,
    KeyCreditsUsed,
    RateLimitExceeded,
    Unauthorized,
    Unprocessable,
)
from pipeline.lifecycle import Submission, Submitted


def raise_refusal(submitted: Submitted, submission: Submission) -> None:
    """Raise the error of a refused submission; do nothing for one that has a job."""
    match submitted.outcome:
        case "insufficient":
            raise InsufficientCredits(required=submitted.required, remaining=submitted.available or 0)
        case "key_limit":
            raise KeyCreditsUsed(required=submitted.required, remaining=submitted.available or 0)
        case "conflict":
            raise Unprocessable(
                "This Idempotency-Key was sent with another body before; use a new one for a new request.",
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
