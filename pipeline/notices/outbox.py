"""Outbox: mails that wait for a server, each with the same Message-ID in every try."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pipeline.accounts.audit import ADDRESS, Action
from pipeline.database import Row, Statement, nothing, rows_of
from pipeline.identifiers import uuid7
from pipeline.webhooks.events import NEW_SIGN_IN, event_body

#: A mail that was not taken is tried again after 2, 4, 8 … minutes, at most this long after, and for a day.
LONGEST_PAUSE = timedelta(hours=4)
RETRY_FOR = timedelta(days=1)
MAX_ERROR = 300


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to be sent now; `attempts` counts this try."""

    id: UUID
    email: str
    subject: str
    body: str
    token: UUID | None
    attempts: int
    age: timedelta


def add_mail(
    person_id: UUID, account_id: UUID, subject: str, body: str, token: UUID | None = None, *, id: UUID | None = None
) -> Statement[bool]:
    """Have a mail sent as soon as this is committed; return false if there is one with its `id`.

    `token` ends the choice that it comes from."""
    return Statement(
        "INSERT INTO mail (id, person_id, account_id, subject, body, token)"
        " VALUES (%(id)s, %(person)s, %(account)s, %(subject)s, %(body)s, %(token)s)"
        " ON CONFLICT DO NOTHING RETURNING 1 AS added",
        {
            "id": id or uuid7(),
            "person": person_id,
            "account": account_id,
            "subject": subject,
            "body": body,
            "token": token,
        },
        bool,
    )


def claim_mails(limit: int, *, lease_for: timedelta) -> Statement[list[Mail]]:
    """Take mails that are due; one that is not reported is due again after the lease."""
    return Statement(
        "WITH due AS (SELECT id FROM mail WHERE state = 'pending' AND next_at <= now()"
        "  ORDER BY next_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)"
        " UPDATE mail m SET attempts = m.attempts + 1, next_at = now() + %(lease)s FROM due d, person p"
        " WHERE m.id = d.id AND p.id = m.person_id RETURNING m.id, coalesce(p.email, '') AS email, m.subject, m.body,"
        " m.token, m.attempts, now() - m.created_at AS age",
        {"limit": limit, "lease": lease_for},
        rows_of(Mail),
        repeatable=False,
    )


def report_mail(mail: Mail, error: str | None = None, *, is_final: bool = False) -> Statement[str | None]:
    """Store the result of a try; return the new state, None for a try that was taken for lost."""
    pause = min(timedelta(minutes=2**mail.attempts), LONGEST_PAUSE) if mail.attempts < 10 else LONGEST_PAUSE
    is_over = is_final or mail.age > RETRY_FOR
    state = "sent" if error is None else "failed" if is_over else "pending"
    return Statement(
        "UPDATE mail SET state = %(state)s, error = %(error)s, next_at = now() + %(pause)s,"
        " ended_at = CASE WHEN %(ended)s THEN now() END"
        " WHERE id = %(id)s AND attempts = %(attempts)s AND state = 'pending' RETURNING state",
        {
            "id": mail.id,
            "attempts": mail.attempts,
            "state": state,
            "ended": state != "pending",
            "error": error and error[:MAX_ERROR],
            "pause": pause,
        },
        lambda rows: rows[0]["state"] if rows else None,
    )


def list_mails(account_id: UUID, person_id: UUID, *, limit: int) -> Statement[list[Row]]:
    """Return created_at, subject, state and error of a person's last mails about an account."""
    return Statement(
        "SELECT created_at, subject, state, error FROM mail WHERE person_id = %(person)s AND account_id = %(account)s"
        " ORDER BY created_at DESC LIMIT %(limit)s",
        {"person": person_id, "account": account_id, "limit": limit},
        list,
    )


def forget_mails(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete mails of so long ago; return how many."""
    return Statement(
        "WITH gone AS (DELETE FROM mail WHERE id = ANY (ARRAY(SELECT id FROM mail"
        " WHERE created_at < now() - %(older_than)s AND state <> 'pending' ORDER BY created_at LIMIT %(limit)s"
        " FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) AS gone FROM gone",
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )


def tell_of_sign_in(account_id: UUID, person_id: UUID, browser: str) -> Statement[None]:
    """Tell the account's webhooks of a sign-in, if the person's others had other addresses.

    It follows the statement that signs in, in the same transaction, and finds what that has noted."""
    data = {"person_id": person_id, "address": ADDRESS.get(), "browser": browser}
    return Statement(
        "INSERT INTO webhook_delivery (id, account_id, webhook_id, url, event, body)"
        " SELECT gen_random_uuid(), a.id, w.id, w.url, %(event)s::text, %(body)s::text FROM account a"
        " JOIN webhook w ON w.account_id = a.id AND (w.of_account OR w.id = a.webhook_id)"
        " WHERE a.id = %(account)s AND w.url IS NOT NULL AND (w.events IS NULL OR %(event)s::text = ANY (w.events))"
        " AND (SELECT count(*) = 1 AND max(at) = now() FROM (SELECT at FROM audit_event"
        "  WHERE person_id = %(person)s AND action = %(action)s"
        "  AND address IS NOT DISTINCT FROM %(address)s::text AND at > now() - interval '90 days' LIMIT 2) known)"
        " RETURNING 1 AS told",
        {
            "account": account_id,
            "person": person_id,
            "action": Action.SIGNED_IN.value,
            "address": ADDRESS.get(),
            "event": NEW_SIGN_IN,
            "body": event_body(NEW_SIGN_IN, data, datetime.now(UTC)),
        },
        nothing,
        repeatable=False,
    )
