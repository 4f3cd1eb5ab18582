"""Hooks of the documents' site: serve the README as first page, and generate a reference of settings and routes."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from api.capabilities import load_routes
from api.openapi.document import operations
from api.openapi.service import describe_service
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.settings.sections import complete
from scripts.commands.settings import list_variables

ROOT = Path(__file__).resolve().parents[1]
#: A link to a file of the repository.
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, text in (("index.md", start()), ("reference/settings.md", settings()), ("reference/routes.md", routes())):
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links to files that are not pages by their text, because the site has no repository beside it."""

    def shown(found: re.Match[str]) -> str:
        target = found[2].partition("#")[0]
        folder = Path(page.file.src_uri).parent
        place = Path(*_resolved(folder / target)).as_posix() if target else ""
        return found[0] if not target or files.get_file_from_path(place) else found[1]

    return LINK.sub(shown, markdown)


def start() -> str:
    """Return the README with links to pages of the site."""
    return (ROOT / "README.md").read_text("utf-8").replace("](docs/", "](")


def settings() -> str:
    """Return a table of all settings."""
    defaults = complete(Settings).model_construct()
    rows = [f"| `{name}` | {_cell(value)} | {_cell(meaning)} |" for name, value, _, meaning in list_variables(defaults)]
    head = (
        "Each is an environment variable, or a line of `pressroom.toml`: see [Running Pressroom](../operations.md).\n"
    )
    return "\n".join(["# Settings", "", head, "| variable | default | meaning |", "|---|---|---|", *rows, ""])


def routes() -> str:
    """Return all routes with their fields."""
    document = describe_service(load_kinds(Settings()), load_routes())
    lines = ["# Routes", "", "A running system has these with examples, to be tried, at `/docs`.", ""]
    for path, method, operation in sorted(operations(document), key=lambda one: (one[0], one[1])):
        lines += [f"## {method.upper()} {path}", "", str(operation["summary"]), ""]
        lines += [f"- `{one['name']}` ({one['in']}): {one['description']}" for one in _parameters(document, operation)]
        lines += [""]
    return "\n".join(lines)


def _parameters(document: Any, operation: Any) -> list[Any]:
    found = []
    for one in operation["parameters"]:
        if "$ref" in one:
            one = document["components"]["parameters"][one["$ref"].rpartition("/")[2]]
        found.append(one)
    return found


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
