"""Commands: this package's modules, capabilities and other wheels add theirs to `pressroom`.

A module has `register(app)`, made by `under`. A capability names its modules in COMMANDS; an entry point of the group
`pressroom.commands` names a `register`."""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points

import typer

from pipeline.capabilities import declared

#: Headings of `pressroom --help`.
SERVICE = "Use the service"
SYSTEM = "Run a system"
ACCOUNTS = "Look after accounts and jobs"

Register = Callable[[typer.Typer], None]

#: The module of each command with another name.
MODULES: Mapping[str, str] = {
    "mcp": "client",
    "migrate": "system",
    "pools": "system",
    "restore": "backup",
    "resume": "pause",
    "scale": "system",
    "up": "system",
    "usage": "client",
    "work": "system",
}
#: Groups that any module may add commands to.
SHARED = ("accounts", "import-csv")


def under(heading: str, *commands: Callable[..., None] | typer.Typer) -> Register:
    """Return a function that adds commands, and groups of commands, under a heading of `pressroom --help`."""

    def register(app: typer.Typer) -> None:
        for command in commands:
            if isinstance(command, typer.Typer):
                app.add_typer(command, rich_help_panel=heading)
            else:
                app.command(rich_help_panel=heading)(command)

    return register


def register_all(app: typer.Typer, wanted: str | None = None) -> None:
    """Add all commands, or only the wanted one if it is ours: importing all takes 0.3 s.

    A package that can't be imported is named on standard error and skipped."""
    for module in modules_of(wanted):
        import_module(module).register(app)
    for entry_point in entry_points(group="pressroom.commands"):
        try:
            register: Register = entry_point.load()
        except (ImportError, AttributeError) as error:
            typer.echo(f"pressroom: the commands {entry_point.value} can't be loaded: {error}", err=True)
            continue
        register(app)


def modules_of(wanted: str | None) -> Sequence[str]:
    """Return the module of a command; all modules for a shared group or an unknown name."""
    ours = {module.name.replace("_", "-"): f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)}
    every = ours | {command: f"{__name__}.{module}" for command, module in MODULES.items()} | declared("COMMANDS")
    if wanted in every and wanted not in SHARED:
        return [every[wanted]]
    return list(dict.fromkeys(every.values()))
