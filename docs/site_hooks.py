"""Hooks of the documents' site: serve the README as first page, and generate a reference of settings and routes."""

import re
from collections.abc import Iterable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from api.capabilities import load_routes
from api.openapi.document import describe_service
from api.openapi.reference.views import Field, make_sections, shared_answers
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.settings.sections import complete
from scripts.commands.settings import list_variables

ROOT = Path(__file__).resolve().parents[1]
#: A link to a client's README, which is a page of the site, and one to any file of the repository.
CLIENT = re.compile(r"\]\((?:\.\./)?clients/(\w+)/README\.md")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    made = {"index.md": start(), "reference/settings.md": settings(), "reference/routes.md": routes()}
    made |= {f"client-{name}.md": client(name) for name in ("javascript", "python")}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links to files that are not pages by their text, because the site has no repository beside it."""

    def shown(found: re.Match[str]) -> str:
        target = found[2].partition("#")[0]
        folder = Path(page.file.src_uri).parent
        place = Path(*_resolved(folder / target)).as_posix() if target else ""
        return found[0] if not target or files.get_file_from_path(place) else found[1]

    return LINK.sub(shown, CLIENT.sub(r"](client-\g<1>.md", markdown))


def start() -> str:
    """Return the README with links to pages of the site."""
    return CLIENT.sub(r"](client-\g<1>.md", (ROOT / "README.md").read_text("utf-8")).replace("](docs/", "](")


def client(name: str) -> str:
    """Return a client's README, likewise."""
    return (ROOT / "clients" / name / "README.md").read_text("utf-8").replace("](../../docs/", "](")


def settings() -> str:
    """Return a table of all settings."""
    defaults = complete(Settings).model_construct()
    rows = [f"| `{name}` | {_cell(value)} | {_cell(meaning)} |" for name, value, _, meaning in list_variables(defaults)]
    head = (
        "Each is an environment variable, or a line of `pressroom.toml`: see [Running Pressroom](../operations.md).\n"
    )
    return "\n".join(["# Settings", "", head, "| variable | default | meaning |", "|---|---|---|", *rows, ""])


def routes() -> str:
    """Return all routes with their parameters, fields and answers."""
    document = describe_service(load_kinds(Settings()), load_routes())
    lines = ["# Routes", "", "On a running system, `/docs` has forms to try them.", ""]
    for section in make_sections(document, {}):
        lines += [f"## {section.heading}", ""]
        for one in section.operations:
            lines += [f"### {one.method} {one.path}", "", one.summary, "", "```sh", one.lines["curl"], "```", ""]
            lines += _table("parameter | in | type | default | meaning", map(_row, (*one.parameters, *one.fields)))
            lines += _table("answer's field | type | meaning", one.answer_fields)
            lines += _table("status | meaning", [(status, meaning) for status, meaning in one.statuses if meaning])
    lines += ["## Errors", "", *_table("status | meaning", shared_answers(document))]
    return "\n".join(lines)


def _row(field: Field) -> tuple[str, ...]:
    default = "required" if field.is_required else field.default
    return field.name, field.place or "body", field.type, default, field.meaning


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table whose first column is code; none without rows."""
    lines = [f"| `{first}` | {' | '.join(map(_cell, rest))} |" for first, *rest in rows]
    return [f"| {head} |", "|" + "---|" * (head.count("|") + 1), *lines, ""] if lines else []


def _resolved(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return parts


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
