"""`pressroom webhooks`: where events are sent, and the deliveries."""

import json
from datetime import timedelta
from typing import Annotated

import typer

from pipeline.errors import InvalidRequest, NotFound
from pipeline.webhooks.accounts import (
    AccountWebhook,
    change_webhook,
    ensure_webhook,
    find_webhook,
    list_webhooks,
    rotate_secret,
)
from pipeline.webhooks.deliveries import STATES
from pipeline.webhooks.events import EVENTS
from pipeline.webhooks.log import list_deliveries, send_again
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_account, find_id
from scripts.options import Data, open_database, read_id, settings_for
from scripts.terminal import show_table

group = typer.Typer(name="webhooks", help="Set webhooks, and list their deliveries.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command()
def show(account_id: str, data: Data = None) -> None:
    """Print an account's webhooks as JSON."""
    with open_database(data) as database:
        webhooks = database.run(list_webhooks(find_account(database, account_id)))
    shown = [
        {
            "id": str(webhook.id),
            "is_default": webhook.is_default,
            "webhook_url": webhook.url,
            "webhook_events": list(EVENTS) if webhook.events is None else webhook.events,
            "secret_set_at": webhook.secret_at.isoformat(timespec="seconds"),
        }
        for webhook in webhooks
    ]
    typer.echo(json.dumps(shown, indent=2))


@group.command("set")
def set_webhook(
    account_id: str,
    url: Annotated[str, typer.Argument(help="A public address.")],
    event: Annotated[list[str] | None, typer.Option(help="Only this event; may be given again.")] = None,
    data: Data = None,
) -> None:
    """Set an account's default webhook; its first secret is created and shown once."""
    from api.work.common_fields import check_events, check_url  # falcon, which most other commands don't need

    address = check_url(url, settings_for(data).fetch.allow_networks)
    events = None if not event else check_events(event)
    with open_database(data) as database:
        account = find_account(database, account_id)
        *_, made, webhook = database.run_together([*ensure_webhook(account), change_webhook(account, address, events)])
    typer.echo(f"events go to {address}")
    if made:
        _show_secret(webhook)


@group.command()
def unset(account_id: str, data: Data = None) -> None:
    """Remove an account's default webhook; its secret stays."""
    with open_database(data) as database:
        database.run(change_webhook(find_account(database, account_id), None, None))
    typer.echo("no events by default")


@group.command("rotate-secret")
def rotate(account_id: str, data: Data = None) -> None:
    """Create a new secret, shown once; the old one also signs for a day."""
    overlap = timedelta(hours=settings_for(data).webhooks.secret_overlap_hours)
    with open_database(data) as database:
        account = find_account(database, account_id)
        *_, webhook = database.run_together(
            [*ensure_webhook(account), rotate_secret(account, overlap=overlap), find_webhook(account)]
        )
    _show_secret(webhook)


@group.command()
def deliveries(
    account_id: str,
    state: Annotated[str | None, typer.Option(help=f"Only {', '.join(STATES)}.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 20,
    data: Data = None,
) -> None:
    """List the deliveries of an account's webhooks, newest first."""
    if state is not None and state not in STATES:
        raise InvalidRequest(f"There is no state {state!r}; choose {', '.join(STATES)}.")
    with open_database(data) as database:
        page, total = database.run(
            list_deliveries(find_id(database, "account", account_id), state=state, limit=limit, offset=0)
        )
    rows = [
        (one.id, one.event, one.state, one.attempts, f"{one.created_at:%Y-%m-%d %H:%M}", one.url, one.error)
        for one in page
    ]
    show_table(f"Deliveries ({len(rows)} of {total:,})", ["id", "event", "state", "tries", "made", "to", "error"], rows)


@group.command("send-again")
def again(delivery_id: str, data: Data = None) -> None:
    """Send an event again, at once."""
    with open_database(data) as database:
        is_there = database.run(send_again(read_id(delivery_id), None))
    if not is_there:
        raise NotFound(f"There is no delivery {delivery_id}. `pressroom webhooks deliveries ACCOUNT` lists them.")
    typer.echo("sent again")


def _show_secret(webhook: AccountWebhook) -> None:
    typer.echo(f"secret {webhook.secret}  (shown once)")
