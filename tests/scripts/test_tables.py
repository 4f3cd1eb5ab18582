"""Tables on terminals of any width."""

import io
from typing import Any
from uuid import uuid4

import pytest
from rich.console import Console

from pipeline.settings import Settings
from scripts.commands.settings import list_variables
from scripts.terminal import show_table


def shown(columns: list[str], rows: list[Any], *, width: int, terminal: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    show_table("Things", columns, rows, console=console)
    written: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return written


@pytest.mark.parametrize("width", [200, 80, 40, 20])
def test_what_other_commands_are_told_is_never_cut(width: int) -> None:
    ids = [uuid4() for _ in range(3)]
    columns = ["id", "kind", "state", "items", "credits", "created", "error"]
    rows = [(job_id, "speech_with_music", "failed", "0+1/1", "0/2", "2026-11-20 12:00", "timed_out") for job_id in ids]

    lines = [line.strip().split(" ")[0] for line in shown(columns, rows, width=width).splitlines()]

    assert [line for line in lines if line in set(map(str, ids))] == list(map(str, ids))


def test_every_setting_can_be_copied_at_80_columns() -> None:
    rows = list_variables(Settings())
    words = shown(["variable", "value", "default", "meaning"], rows, width=80).split()

    assert all(variable in words for variable, *_ in rows)


def test_lines_fit_the_terminal_where_ids_do() -> None:
    rows = [(uuid4(), "a name that is rather long, as names are", "2026-11-20 12:00", "2026-11-20 12:00", None)]

    assert all(len(line) <= 80 for line in shown(["id", "name", "created", "used", "end"], rows, width=80).splitlines())


def test_control_codes_and_markup_of_users_count_for_nothing() -> None:
    written = shown(["id", "name"], [("1", "[red]x[/] \x1b[31m\a")], width=80)

    assert "[red]x[/]" in written
    assert "\x1b" not in written


def test_numbers_have_commas_for_people_alone() -> None:
    assert "9,983" in shown(["id", "available"], [("a", 9_983)], width=80)
    assert shown(["id", "available"], [("a", 9_983)], width=80, terminal=False) == "id\tavailable\na\t9983\n"
    assert "True" in shown(["id", "is_new"], [("a", True)], width=80)


def test_an_empty_table_says_so_to_people_and_is_a_header_to_programs() -> None:
    assert shown(["id", "name"], [], width=80) == "Things: none\n"
    assert shown(["id", "name"], [], width=80, terminal=False) == "id\tname\n"
