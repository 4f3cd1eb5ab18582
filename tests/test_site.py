"""The documents as a site: it is built strictly, stands alone, and its reference is whole."""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from api.capabilities import load_routes
from api.openapi.document import describe_service, operations
from capabilities.speech.engines import ENGINES
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from scripts.commands.settings import list_variables

ROOT = Path(__file__).parents[1]
#: Attributes whose addresses a browser loads by itself.
LOADED = re.compile(r"""<(?:script|img|audio|source|iframe|link)\b[^>]*?(?:src|href)=["']?(https?:)?//[^"'>]*""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder


def text_of(page: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_every_document_is_a_page(site: Path) -> None:
    for document in (ROOT / "docs").glob("*.md"):
        assert (site / f"{document.stem}.html").exists(), document.name
    assert "Pressroom is a service for publishers" in text_of(site / "index.html")


def test_every_engine_that_speaks_here_is_heard(site: Path) -> None:
    page = (site / "speech.html").read_text("utf-8")
    for engine in ENGINES:
        if engine != "edge":  # speaks elsewhere
            assert f'href="sounds/{engine}.mp3"' in page, engine
            assert (site / "sounds" / f"{engine}.mp3").stat().st_size < 60_000


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    outside = {
        found[0][:120] for page in site.rglob("*.html") for found in LOADED.finditer(page.read_text("utf-8"))
        if 'rel="canonical"' not in found[0]
    }  # fmt: skip
    assert outside == set()


def test_the_reference_has_every_setting_and_every_route(site: Path) -> None:
    settings = text_of(site / "reference" / "settings.html")
    for name, *_ in list_variables(Settings()):
        assert name in settings
    routes = text_of(site / "reference" / "routes.html")
    for path, method, _ in operations(describe_service(load_kinds(Settings()), load_routes())):
        assert f"{method.upper()} {path}" in routes
    assert {"voice_name", "images[].image_url", "entries[].replacement"} <= set(routes.split())
