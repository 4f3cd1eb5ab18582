"""`pressroom site`: the sites that an account publishes on, and what is proposed and written there."""

import typer

from scripts.commands import ACCOUNTS, under

group = typer.Typer(name="site", no_args_is_help=True, help="Propose and write alt texts where you publish.")

# They add their commands to the group.
from capabilities.sites.commands import connecting, reviewing  # noqa: E402, F401

register = under(ACCOUNTS, group)
