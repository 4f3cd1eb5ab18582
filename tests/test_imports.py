"""Processes import a library only when they need it: all programs start at once."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from systems import clean_environment

from scripts.system.programs import ROOT

#: Only the pools' engines, the API, migrations and the demo need any of these.
HEAVY = {
    "PIL",
    "aiohttp",
    "alembic",
    "falcon",
    "faster_whisper",
    "jinja2",
    "numpy",
    "onnxruntime",
    "scipy",
    "sqlalchemy",
}
#: Only engines, handlers and the media of workers import these.
HEAVY_FOR_ENGINES = {"PIL", "diffusers", "edge_tts", "espeakng_loader", "faster_whisper", "imageio_ffmpeg", "numpy"} | {
    "onnxruntime",
    "pydub",
    "rapidocr",
    "torch",
    "transformers",
}
ROOMS = ("api", "capabilities", "pipeline", "scripts", "workers")
#: Modules of a folder that are no package of their own.
MOST_LOOSE = 13
SERVERS = {"DATABASE_URL": "postgresql://nobody@/none", "REDIS_URL": "redis://nobody"}


def said(code: str) -> str:
    """Return the last line that a new interpreter writes."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=clean_environment(extra=SERVERS),
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.splitlines()[-1]


def imported(code: str) -> set[str]:
    """Return the packages that a new interpreter has imported after some code."""
    told = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    return set(json.loads(said(f"{code}\n{told}")))


@pytest.mark.parametrize(
    ("code", "unneeded"),
    [
        ("from scripts.main import create_app; create_app('jobs')", {*HEAVY, "dramatiq", "redis", "structlog"}),
        ("from scripts.main import create_app; create_app('pools')", {*HEAVY, "dramatiq", "redis", "structlog"}),
        ("from scripts.main import create_app; create_app('sweep')", HEAVY),
        (
            "from scripts.main import create_app; create_app('up'); import scripts.system.up",
            {*HEAVY, "dramatiq", "redis"},
        ),
        ("import scripts.system.prepare", {*HEAVY, "dramatiq", "redis"}),
        ("import scripts.system.embedded.postgres", {*HEAVY, "asyncio", "psycopg", "pydantic"}),
        ("import scripts.system.embedded.redis", {*HEAVY, "asyncio", "psycopg", "pydantic"}),
        ("import workers.main", HEAVY | {"typer"}),
        ("import api.server", HEAVY - {"aiohttp", "falcon", "jinja2"} | {"typer"}),
    ],
)
def test_a_program_starts_without_what_it_does_not_need(code: str, unneeded: set[str]) -> None:
    assert imported(code) & unneeded == set()


def test_a_second_start_migrates_without_what_migrates() -> None:
    assert imported("import pipeline.lifecycle.schema, pipeline.accounts.accounts") & {"alembic", "sqlalchemy"} == set()


def test_the_metadata_pool_is_ready_before_it_has_loaded_what_tells_languages() -> None:
    extractive = "capabilities.blog.engines.metadata.extractive.extractive"
    setup = f"from {extractive} import Extractive; made = Extractive(); made.setup()"
    read = "from capabilities.blog.engines.metadata.plain import read_post"
    write = "made.write(read_post('Ready', 'It is ready to be read.', 'en'))"

    assert "py3langid" not in imported(setup)
    assert "py3langid" in imported(f"{setup}; {read}; {write}")


def test_the_api_s_processes_share_what_its_master_has_imported() -> None:
    code = """
import sys
from gunicorn.config import Config
from api import server
server.Worker.check_config(Config(), None)
before = set(sys.modules)
server.application()
print([name for name in sys.modules.keys() - before if name.startswith(("api.", "pipeline."))])
"""

    assert said(code) == "[]"


def test_the_api_starts_where_no_engine_s_library_is_installed() -> None:
    code = f"""
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY_FOR_ENGINES}:
            raise ImportError(name)
sys.meta_path.insert(0, Missing)
from api.app import import_parts
import_parts()
print('[]')
"""

    assert said(code) == "[]"


def test_no_room_has_more_loose_modules_than_one_can_take_in() -> None:
    rooms = {path.parent for top in ROOMS for path in (ROOT / top).rglob("*.py") if "versions" not in path.parts}
    loose = {str(room.relative_to(ROOT)): len([*room.glob("[!_]*.py")]) for room in rooms}

    assert {room: count for room, count in loose.items() if count > MOST_LOOSE} == {}


def test_an_installation_compiles_all_of_ours(tmp_path: Path) -> None:
    command = ["make", "--dry-run", "install", f"VENV={tmp_path / 'none'}"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    (compiled,) = [line.partition("#")[0].split("-q")[1].split() for line in lines if "compileall" in line]

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert compiled == [*project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], "clients/python"]
