"""`pressroom site watch`: what posts get as soon as they are published."""

from typing import Annotated

import typer

from capabilities.sites import sites
from capabilities.sites.commands.connecting import Name, find_site
from capabilities.sites.commands.group import group
from capabilities.sites.commands.reviewing import Part
from capabilities.sites.working.finding import NEEDED
from pipeline.errors import InvalidRequest
from scripts.options import Data, open_database
from scripts.terminal import tell


@group.command()
def watch(
    name: Name,
    part: Annotated[
        list[Part] | None, typer.Option(help="A part that new posts get; may be given several times.")
    ] = None,
    alt_text: Annotated[bool, typer.Option("--alt-text", help="Describe the pictures of new posts.")] = False,
    index: Annotated[bool, typer.Option("--index", help="Tell search engines, and check daily until found.")] = False,
    at_least: Annotated[
        float, typer.Option(min=0, max=1, help="Write texts that are at least this sure; never a draft.")
    ] = 0.7,
    off: Annotated[bool, typer.Option("--off", help="Watch it no more.")] = False,
    data: Data = None,
) -> None:
    """Add the chosen parts to new posts when they are published; doubtful ones wait for review."""
    with open_database(data) as database:
        site = find_site(database, name)
        needed = [*(NEEDED[one] for one in part or ()), *(["alt_text"] if alt_text else [])]
        if lacking := [one for one in needed if one not in site.known.abilities]:
            raise InvalidRequest(f"{site.name} can't be given {', '.join(lacking)} by its user.")
        if off == bool(part or alt_text or index):
            raise InvalidRequest("Choose what new posts get (--part, --alt-text, --index), or --off.")
        chosen = {"parts": part or [], "alt_text": alt_text, "index": index, "at_least": at_least}
        database.run(sites.set_watch(site.id, None if off else chosen))
    typer.echo(f"{site.name} {'is not watched' if off else 'is watched'}")
    if not off:
        tell("Posts that are there already are left alone; new ones are found within a minute or two.")
