"""`pressroom usage`: the credits left, and their use."""

import typer

from scripts.commands import SERVICE, under
from scripts.options import Data, ServiceUrl
from scripts.service import ask_service
from scripts.terminal import show_table


def usage(url: ServiceUrl = None, data: Data = None) -> None:
    """Show the credits left, and the use of each route."""
    with ask_service(url, data) as service:
        used = service.usage()
    typer.echo(f"tier: {used.subscription_tier}")
    typer.echo(f"credits left: {used.credits_remaining:,}, and {used.credits_held:,} held by open jobs")
    typer.echo(f"this month: {used.requests_this_month:,} requests, {used.credits_used_this_month:,} credits")
    rows = [
        (route, requests, used.credits_by_endpoint.get(route, 0)) for route, requests in used.usage_by_endpoint.items()
    ]
    show_table("Used since the account was opened", ["route", "requests", "credits"], rows)


register = under(SERVICE, usage)
