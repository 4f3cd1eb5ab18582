"""The documents are true: lengths, links, and the commands that they name."""

import re
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from scripts.main import create_app

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_and_commands_that_documents_name_exist(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)", text, re.MULTILINE):
        assert (target[0] or target[1]) in TARGETS
    commands = set(get_command(create_app()).commands)  # type: ignore[attr-defined]  # a group
    for command in re.findall(r"(?:^|`|/)pressroom ([a-z][a-z-]+)", text, re.MULTILINE):
        assert command in commands


def test_make_help_lists_what_there_is() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    for target in ("install", "demo", "test", "up", "lint", "bench"):
        assert f"make {target}" in listed


def test_nothing_of_a_workplace_stands_in_the_project() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in tracked:
        text = (ROOT / name).read_text("utf-8", errors="replace") if (ROOT / name).is_file() else ""
        assert str(ROOT.parent) + "/" not in text, name
