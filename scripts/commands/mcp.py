"""`pressroom mcp`: the service as tools of an assistant that starts programs (docs/mcp.md)."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from scripts.commands import SERVICE, under
from scripts.options import Data, ServiceUrl, find_service


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


register = under(SERVICE, mcp)
