"""Commands: each module of this package, and each wheel's entry point, adds its own to the `pressroom` command.

A module has `register(app)`; `under` makes it. An entry point of the group `pressroom.commands` names such a function.
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points

import typer

#: Headings of `pressroom --help`.
SERVICE = "Use the service"
SYSTEM = "Run a system"
ACCOUNTS = "Look after accounts and jobs"

Register = Callable[[typer.Typer], None]


def under(heading: str, *commands: Callable[..., None] | typer.Typer) -> Register:
    """Return a function that adds commands, and groups of commands, under a heading of `pressroom --help`."""

    def register(app: typer.Typer) -> None:
        for command in commands:
            if isinstance(command, typer.Typer):
                app.add_typer(command, rich_help_panel=heading)
            else:
                app.command(rich_help_panel=heading)(command)

    return register


def register_all(app: typer.Typer) -> None:
    """Add all commands. One of another package that can't be imported is named on standard error and left out."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}").register(app)
    for entry_point in entry_points(group="pressroom.commands"):
        try:
            register: Register = entry_point.load()
        except (ImportError, AttributeError) as error:
            typer.echo(f"pressroom: the commands {entry_point.value} can't be loaded: {error}", err=True)
            continue
        register(app)
