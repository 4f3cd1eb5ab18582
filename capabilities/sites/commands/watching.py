"""`pressroom site watch`: what posts get as soon as they are published."""

import asyncio
from typing import Annotated

import typer

from capabilities.sites import sites
from capabilities.sites.commands.connecting import Name, find_site
from capabilities.sites.commands.group import group
from capabilities.sites.parts import AT_LEAST, Part, watch_options
from pipeline.errors import InvalidRequest
from scripts.options import Data, open_database, settings_for
from scripts.terminal import tell


@group.command()
def watch(
    name: Name,
    part: Annotated[list[Part] | None, typer.Option(help="Add this part to new posts. Repeat it for several.")] = None,
    alt_text: Annotated[bool, typer.Option("--alt-text", help="Add alt texts to pictures of new posts.")] = False,
    index: Annotated[
        bool, typer.Option("--index", help="Tell search engines, and check daily until one shows the post.")
    ] = False,
    at_least: Annotated[
        float, typer.Option(min=0, max=1, help="The least confidence to write without review; drafts always wait.")
    ] = AT_LEAST,
    off: Annotated[bool, typer.Option("--off", help="Stop watching.")] = False,
    data: Data = None,
) -> None:
    """Add the chosen parts to new posts when they are published; doubtful ones wait for review."""
    with open_database(data) as database:
        site = find_site(database, name)
        if off == bool(part or alt_text or index):
            raise InvalidRequest("Choose what new posts get (--part, --alt-text, --index), or --off.")
        if not off:
            chosen = watch_options(site, part or [], alt_text=alt_text, index=index, at_least=at_least)
            asyncio.run(sites.subscribe(site, settings_for(data)))
        database.run(sites.set_watch(site.id, None if off else chosen))
    typer.echo(f"{site.name} {'is no longer watched' if off else 'is watched'}")
    if not off:
        minutes = site.known.watch_minutes
        tell(f"Existing posts stay unchanged. Pressroom finds new ones within {minutes + 1} minutes.")
