"""`pressroom usage`, and `pressroom mcp`: the service as tools of an assistant that starts programs (docs/mcp.md)."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from scripts.commands import SERVICE, under
from scripts.options import Data, ServiceUrl, find_service
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


def mcp(
    files: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="A folder whose files tools may read, and add new ones to."),
    ] = None,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Serve the tools of a running Pressroom to an assistant, by MCP over standard input and output."""
    address, key = find_service(url, data)
    asyncio.run(_serve(address, key, files))


async def _serve(address: str, key: str, files: Path | None) -> None:
    import httpx2
    from mcp.server.stdio import stdio_server

    from api.mcp.calls import Calls
    from api.mcp.server import Assistance

    async with httpx2.AsyncClient(base_url=address, headers={"X-API-Key": key}, timeout=None) as client:
        calls = Calls(client, files)
        server = Assistance(lambda _: calls).server()
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


register = under(SERVICE, usage, mcp)
