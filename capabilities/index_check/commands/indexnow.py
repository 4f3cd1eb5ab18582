"""`pressroom indexnow`: the key file that a site serves before its URLs can be submitted."""

import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from capabilities.index_check.settings import SubmissionSettings
from pipeline.errors import InvalidRequest, NotReady
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for

if TYPE_CHECKING:
    from capabilities.index_check.engines.submission import SubmittedSite

group = typer.Typer(name="indexnow", help="IndexNow keys of sites whose URLs are submitted.", no_args_is_help=True)
register = under(SYSTEM, group)

#: Random bytes of a key, which has two characters for each.
KEY_BYTES = 16
SETTING = "PRESSROOM_SUBMISSION__INDEXNOW__KEY"
Host = Annotated[str, typer.Argument(metavar="HOST", help="Such as www.example.com, or http://… without TLS.")]


@group.command()
def key() -> None:
    """Make a key and show where to put it."""
    made = secrets.token_hex(KEY_BYTES)
    typer.echo(
        f"key      {made}\n"
        f"setting  {SETTING}={made}\n"
        f"file     https://HOST/{made}.txt at each site, with the key as its only text\n"
        "then     pressroom indexnow check HOST"
    )


@group.command()
def check(host: Host, data: Data = None) -> None:
    """Show the file that a site must serve, and check that it does. Exit with code 1 if it doesn't."""
    # aiohttp, which most other commands don't need
    from capabilities.index_check.engines.submission.site_keys import KeyFiles, SiteKeys

    settings = settings_for(data)
    site = _site(host)
    own = SiteKeys.read(settings.of(SubmissionSettings).indexnow).of(site)
    if own is None:
        raise NotReady(f"There is no key for {site.host}; set {SETTING}. `pressroom indexnow key` makes one.")
    typer.echo(f"file     {own.file(site)}\ntext     {own.key}")
    with closing(KeyFiles(settings.fetch)) as files:
        fault = files.fault(own, site)
    typer.echo(f"found    {'yes' if fault is None else f'no: {fault.cause}'}")
    if fault is not None:
        raise typer.Exit(1)


def _site(host: str) -> "SubmittedSite":
    from yarl import URL

    from capabilities.index_check.engines.submission import SubmittedSite

    try:
        url = URL(host if "://" in host else f"https://{host}")
        name = url.host_port_subcomponent
    except ValueError:
        name = None
    if not name or url.scheme not in ("http", "https"):
        raise InvalidRequest(f"{host[:80]!a} is not a host; write it as in www.example.com.", field="host")
    return SubmittedSite(name, is_secure=url.scheme == "https")
