"""Gathering: what happened since somebody was told last becomes a mail, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pipeline.database import Database, Statement, Transaction, nothing, rows_of
from pipeline.notices.choices import DAILY, note_low_balances
from pipeline.notices.outbox import add_mail
from pipeline.notices.sources import BALANCE, Source, sources
from pipeline.webhooks.deliveries import add_to_account
from pipeline.webhooks.events import event_body

#: Rows are dated when their transaction begins; by then the transaction has ended.
SETTLED = timedelta(minutes=1)
#: How often somebody is told of one event at once, and how often rows are looked at for them.
AT_MOST_EVERY, LOOK_EVERY = timedelta(minutes=10), timedelta(seconds=30)
A_DAY = timedelta(days=1)
#: Lines of one event in a mail, characters of a line, and choices of one round.
MAX_LINES, MAX_LINE = 20, 300
MOST_CHOICES = 1_000


@dataclass(frozen=True, slots=True)
class _Choice:
    account_id: UUID
    person_id: UUID
    account: str
    event: str
    how: str
    token: UUID
    told_until: datetime
    now: datetime


def gather(database: Database, public_url: str | None) -> int:
    """Tell webhooks of low balances and, with a public URL, write the mails that people want; returns how many.

    Several may gather at once: each locks the choices that it works on."""
    with database.transaction() as transaction:
        for fell in transaction.run(note_low_balances()):
            data = {"available": fell["available"], "low_balance": fell["low_balance"]}
            body = event_body(BALANCE.event, data, datetime.now(UTC))
            transaction.run(add_to_account(fell["account_id"], BALANCE.event, body))
    if public_url is None:
        return 0
    made = (_gather_one(database, public_url.rstrip("/")) for _ in range(MOST_CHOICES))
    return sum(one for one in iter(lambda: next(made, None), None))


def _gather_one(database: Database, public_url: str) -> int | None:
    """Tell one person of one event, or of all that they want daily; None: nobody is left."""
    with database.transaction() as transaction:
        choices = transaction.run(_lock_due())
        if not choices:
            return None
        until = choices[0].now - SETTLED
        sections = [part for one in choices if (part := _section(transaction, one, until, public_url))]
        is_daily = choices[0].how == DAILY
        pause = A_DAY if is_daily else AT_MOST_EVERY if sections else LOOK_EVERY
        transaction.run(_told(choices, until, pause))
        if sections:
            first = choices[0]
            account = _clean(first.account, 60)
            subject = f"Today in {account}" if is_daily else f"{sections[0].splitlines()[0]} ({account})"
            body = "\n\n".join([*sections, _footer(first, account, public_url)])
            transaction.run(add_mail(first.person_id, first.account_id, subject, body, first.token))
    return bool(sections)


def _lock_due() -> Statement[list[_Choice]]:
    return Statement(
        "WITH first AS (SELECT account_id, person_id, event, how FROM notice_choice WHERE next_at <= now()"
        "  ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED)"
        " SELECT c.account_id, c.person_id, a.name AS account, c.event, c.how, c.token, c.told_until, now() AS now"
        " FROM first f JOIN notice_choice c ON c.account_id = f.account_id AND c.person_id = f.person_id"
        "  AND c.how = f.how AND (c.event = f.event OR f.how = 'daily')"
        " JOIN account a ON a.id = c.account_id ORDER BY c.event FOR UPDATE OF c",
        {},
        rows_of(_Choice),
    )


def _section(transaction: Transaction, choice: _Choice, until: datetime, public_url: str) -> str | None:
    """Return the title and the lines of what happened, or None."""
    source: Source | None = sources().get(choice.event)
    if source is None:
        return None  # of a capability that is not installed here
    rows = transaction.run(
        Statement(
            f"SELECT line, path, count(*) OVER () AS number FROM ({source.sql}) found LIMIT {MAX_LINES}",  # noqa: S608  constants of ours
            {"account": choice.account_id, "person": choice.person_id, "since": choice.told_until, "until": until},
            list,
        )
    )
    if not rows:
        return None
    number = rows[0]["number"]
    lines = [f"- {_clean(row['line'], MAX_LINE)}\n  {public_url}{row['path']}" for row in rows]
    more = [f"- and {number - len(rows):,} more"] if number > len(rows) else []
    return "\n".join([source.title.format(number=f"{number:,}"), "", *lines, *more])


def _told(choices: Sequence[_Choice], until: datetime, pause: timedelta) -> Statement[None]:
    return Statement(
        "UPDATE notice_choice SET told_until = greatest(told_until, %(until)s), next_at = now() + %(pause)s"
        " WHERE token = ANY (%(tokens)s) RETURNING 1 AS told",
        {"tokens": [one.token for one in choices], "until": until, "pause": pause},
        nothing,
    )


def _footer(choice: _Choice, account: str, public_url: str) -> str:
    return (
        f"-- \nYou chose to be told of this in {account}.\n"
        f"Change your choices: {public_url}/dashboard/account/notices\n"
        f"Stop these mails: {stop_link(public_url, choice.token)}"
    )


def stop_link(public_url: str, token: UUID) -> str:
    """Return the link that ends the choice a mail comes from."""
    return f"{public_url}/dashboard/notices/stop?token={token}"


def _clean(text: str, most: int) -> str:
    """Return a text of others on one line and not too long."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
