"""`pressroom site`: the group that this folder's modules add their commands to."""

import typer

group = typer.Typer(name="site", no_args_is_help=True, help="Propose and write alt texts where you publish.")
