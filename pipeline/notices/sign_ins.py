"""Sign-ins: webhooks are told of those from an address that is new for the person."""

from datetime import UTC, datetime
from uuid import UUID

from pipeline.accounts.audit import ADDRESS, Action
from pipeline.database import Statement, nothing
from pipeline.webhooks.events import NEW_SIGN_IN, event_body


def tell_of_sign_in(account_id: UUID, person_id: UUID, browser: str) -> Statement[None]:
    """Tell the account's webhooks of a sign-in that was just noted, if the person's others had other addresses.

    It follows the statement that signs in, in the same transaction."""
    data = {"person_id": person_id, "address": ADDRESS.get(), "browser": browser}
    return Statement(
        "INSERT INTO webhook_delivery (id, account_id, webhook_id, url, event, body)"
        " SELECT gen_random_uuid(), a.id, w.id, w.url, %(event)s::text, %(body)s::text FROM account a"
        " JOIN webhook w ON w.account_id = a.id AND (w.of_account OR w.id = a.webhook_id)"
        " WHERE a.id = %(account)s AND w.url IS NOT NULL AND (w.events IS NULL OR %(event)s::text = ANY (w.events))"
        " AND 1 = (SELECT count(*) FROM (SELECT FROM audit_event WHERE person_id = %(person)s AND action = %(action)s"
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
