"""`pressroom site`: the group that this folder's modules add their commands to."""

import typer

group = typer.Typer(name="site", no_args_is_help=True, help="Add alt texts and parts of posts where you publish.")
