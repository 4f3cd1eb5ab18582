"""The documents are true: lengths, links, commands, files and settings."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from pipeline.settings import Settings
from pipeline.settings.settings_sources import NOT_SETTINGS
from scripts.commands.settings import list_variables
from scripts.main import create_app

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/*/README.md")])
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
#: Pages that docs/site_hooks.py generates.
MADE_PAGES = {"index.md", "settings.md", "routes.md", "client-python.md", "client-javascript.md"}


@cache
def tracked() -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@cache
def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8", errors="replace") if (ROOT / name).is_file() else ""


def headings(document: Path) -> set[str]:
    return {plain_heading(line) for line in re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)}


def plain_heading(text: str) -> str:
    """Return a heading without the characters that its anchor leaves out."""
    return re.sub(r"[^\w -]", "", text).strip()


def test_the_readme_is_short_and_shows_the_dashboard() -> None:
    text = text_of("README.md")
    (picture,) = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 100
    assert (ROOT / picture).stat().st_size <= 150_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_to_a_file_and_to_a_heading_of_it(document: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", document.read_text()):
        linked = document.parent / target if target else document
        assert linked.exists(), target
        if anchor:
            assert anchor in {heading.lower().replace(" ", "-") for heading in headings(linked)}, f"{target}#{anchor}"


def test_documents_and_sections_that_the_code_cites_exist() -> None:
    cited = [
        (name, *found)
        for name in tracked()
        if name.endswith((".py", ".sql"))
        for found in re.findall(r"\b(docs/[\w/-]+(?:\.md)?)(?:, ([A-Z][a-z ]+))?", text_of(name))
    ]

    assert len(cited) > 20
    for name, document, section in cited:
        files = ROOT.glob(f"{document}*")  # a decision may be cited by its number
        assert any(files), f"{name} cites {document}"
        if section:
            assert plain_heading(section) in headings(ROOT / document), f"{name} cites {document}, {section}"


def test_no_file_names_a_document_that_is_not_here() -> None:
    names = {Path(name).name for name in tracked()} | MADE_PAGES

    for name in tracked():
        for document in re.findall(r"[\w-]+\.md\b", text_of(name)):
            assert document in names, f"{name} names {document}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_and_commands_that_documents_name_exist(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)", text, re.MULTILINE):
        assert (target[0] or target[1]) in TARGETS
    commands = set(get_command(create_app()).commands)  # type: ignore[attr-defined]  # a group
    for command in re.findall(r"(?:^|`|/)pressroom ([a-z][a-z-]+)", text, re.MULTILINE):
        assert command in commands


def test_files_and_settings_that_documents_name_exist() -> None:
    folders = {name.partition("/")[0] for name in tracked() if "/" in name}
    known = {variable for variable, *_ in list_variables(Settings())}
    for document in DOCUMENTS:
        text = document.read_text()
        for path in re.findall(rf"`((?:{'|'.join(folders)})/[^` ]*)`", text):
            is_example = re.search(r"[A-Z]{3}|\bwords\b", path)  # CONTRIBUTING.md adds a family of that name
            assert is_example or (ROOT / path).exists(), f"{document.name} names {path}"
        for variable in re.findall(r"\b(PRESSROOM_[A-Z0-9_]+[A-Z0-9])\b", text):
            is_known = any(name == variable or name.startswith(f"{variable}__") for name in known)
            assert is_known or variable in NOT_SETTINGS, f"{document.name} names {variable}"


def test_make_security_runs_the_tests_that_the_security_page_names() -> None:
    named = set(re.findall(r"`(tests/[^` ]+)`", text_of("docs/security.md")))
    told = subprocess.run(["make", "-n", "security"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    # The page excepts the browser's test.
    assert named - set(re.findall(r"tests/\S+", told)) == {"tests/acceptance/test_dashboard_in_a_browser.py"}
    assert set(re.findall(r"tests/\S+", told)) - named == set()


def test_make_help_lists_what_there_is() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    for target in ("install", "demo", "test", "up", "lint", "bench"):
        assert f"make {target}" in listed


def test_no_file_contains_the_path_of_its_checkout() -> None:
    # Examples in documents name these two folders.
    place = ROOT if str(ROOT.parent) in {"/tmp", "/srv"} else ROOT.parent
    for name in tracked():
        # A folder such as api/work/ may have the same name.
        assert not re.search(rf"(?<![\w.-]){re.escape(str(place))}/", text_of(name)), name
