"""Commands are found in `scripts.commands`, and in wheels that name them in the group `pressroom.commands`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from scripts.commands import modules_of
from scripts.main import create_app

COMMAND = """
import typer

def greet(name: str):
    typer.echo(f"Good morning, {name}.")

def register(app):
    app.command()(greet)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def install(entry_point: str) -> None:
        described = tmp_path / "greeting_commands-1.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting-commands\nVersion: 1.0\n")
        (described / "entry_points.txt").write_text(f"[pressroom.commands]\ngreeting = {entry_point}\n")
        (tmp_path / "greeting_commands.py").write_text(COMMAND)
        monkeypatch.syspath_prepend(tmp_path)

    return install


def test_a_wheel_adds_a_command_by_an_entry_point(install) -> None:
    install("greeting_commands:register")

    assert CliRunner().invoke(create_app(), ["greet", "Ada"]).output == "Good morning, Ada.\n"


def test_a_wheel_that_can_not_be_imported_is_named_and_keeps_no_other_command(install, capsys) -> None:
    install("missing_commands:register")

    app = create_app()

    assert "missing_commands:register can't be loaded" in capsys.readouterr().err
    assert "doctor" in get_command(app).commands  # type: ignore[attr-defined]  # a group


def test_each_command_of_ours_is_listed_under_a_heading() -> None:
    shown = CliRunner().invoke(create_app(), ["--help"], env={"COLUMNS": "100"}).output

    for heading in ("Use the service", "Run a system", "Look after accounts and jobs"):
        assert heading in shown
    assert " Commands " not in shown


def callbacks(command: Any) -> Iterator[Any]:
    """Yield the functions of a command and of what is below it."""
    for below in getattr(command, "commands", {}).values():
        yield from callbacks(below)
    if command.callback:
        yield command.callback


def test_the_module_that_a_command_is_looked_for_in_has_all_of_it() -> None:
    for name, command in get_command(create_app()).commands.items():  # type: ignore[attr-defined]  # a group
        # The module of a group may import others of its folder, which add commands to it.
        known = {*modules_of(name), *(sys.modules[module].__package__ for module in modules_of(name))}

        modules = {function.__module__ for function in callbacks(command)}
        assert {module for module in modules if module not in known and module.rpartition(".")[0] not in known} == set()


def test_a_command_that_nobody_has_is_answered_by_what_there_is() -> None:
    assert "Did you mean 'jobs'?" in CliRunner().invoke(create_app("job"), ["job"]).output
