"""The lines of the documents, as their readers copy them: each block of shell is run against a whole system."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import tools
from http_service import form
from openpyxl import Workbook
from systems import Running, clean_environment
from waiting import wait_for

from pipeline.accounts.accounts import open_account
from pipeline.database import Database

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
COVER = ROOT / "docs/pictures/cover-01-illustration.jpg"
SERVER = ROOT / "tests/command_server.py"
RECORDING = ROOT / "tests/recordings/weather.flac"
#: Pages whose lines ask a system that runs; others, as deploying.md, build or install one.
PAGES = (
    "README", "docs/api", "docs/speech", "docs/transcription", "docs/alt-text", "docs/blog", "docs/openai", "docs/keys",
    "docs/webhooks", "docs/indexing", "docs/operations", "docs/uploads",
)  # fmt: skip
#: Lines that are left out: they change the installation, need a service of somebody else, or have a test of their own.
LEFT_OUT = re.compile(
    r"^make |pip install|^ffmpeg "
    r"|pressroom up|pressroom scale|pressroom restore"  # tests/scripts
    r'|diarize=|--speakers|/transcript -X PATCH|"speakers": '  # the model comes from PyPI
    r"|pressroom models"  # tests/scripts/commands/test_models_command.py
    r"|pressroom search-console|pressroom indexnow check"  # test_site_commands.py beside it
)
#: Refused in the documents' order of things, rightly: what was tried before has left nothing to do, and nobody had the
#: speakers told apart.
REFUSED = {"/retry": "nothing_to_retry", "/transcript": "speaker_unknown"}


def blocks(page: str) -> list[str]:
    """Return a page's blocks of shell without the lines that are left out."""
    found = re.findall(r"^```sh\n(.*?)^```$", (ROOT / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL)
    kept = ("\n".join(line for line in one.splitlines() if not LEFT_OUT.search(line)) for one in found)
    return [one for one in kept if re.search(r"^[^#\s]", one, re.MULTILINE)]


CASES = [pytest.param(block, id=f"{page}-{place}") for page in PAGES for place, block in enumerate(blocks(page), 1)]


@dataclass
class Reader:
    """A reader's shell: a folder with the files that the lines name, and what they put in their places."""

    folder: Path
    environment: Mapping[str, str]
    places: Mapping[str, str]

    def run(self, block: str) -> subprocess.CompletedProcess[str]:
        """Run a block; the first line that fails ends it."""
        for placeholder, value in self.places.items():
            block = block.replace(placeholder, value)
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def pictures() -> Iterator[str]:
    """The address of a picture on a server of its own."""

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(COVER.parent))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{COVER.name}"
        server.shutdown()


@pytest.fixture(scope="module")
def pressroom(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The line that runs the command of the documents."""
    path = tmp_path_factory.mktemp("commands") / "socket"
    with subprocess.Popen(
        [sys.executable, "-P", str(SERVER), str(path)], env=clean_environment(), start_new_session=True
    ) as server:
        wait_for(path.exists)
        yield f"exec {sys.executable} -I -S {SERVER} {path}"
        server.kill()


@pytest.fixture(scope="module")
def reader(service: Running, pictures: str, pressroom: str, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("reader")
    commands = folder / "bin"
    commands.mkdir()
    for name, line in (
        # The body of an error is shown, and ends the block.
        ("curl", f"exec {tools.require('curl')} --silent --show-error --fail-with-body"),
        ("pressroom", pressroom),
    ):
        (commands / name).write_text(f'#!/bin/sh\n{line} "$@"\n')
        (commands / name).chmod(0o755)
    (folder / ".pressroom").mkdir()
    shutil.copy(service.data / "first-key", folder / ".pressroom/first-key")
    (folder / "photos").mkdir()
    for name in ("banner.png", "tin.jpg", "photos/one.jpg"):
        shutil.copy(COVER, folder / name)
    for name in ("interview.mp3", "interview.wav", "lecture.m4a", "lecture.wav", "theme.mp3"):
        shutil.copy(RECORDING, folder / name)
    (folder / "urls.csv").write_text("url\nhttps://example.org/\n")
    book = Workbook()
    for row in (["Page URL"], ["https://example.org/"]):
        book.worksheets[0].append(row)
    for name in ("urls.xlsx", "YOUR-URLS.xlsx"):
        book.save(folder / name)
    (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "pictures.csv").write_text(f"url\n{pictures}\n")
    extra = {
        "BASE": service.address, "KEY": service.key, "IMAGE": pictures, "PRESSROOM_DATA": str(service.data),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    environment = clean_environment(extra=extra)
    environment["PATH"] = f"{commands}:{environment['PATH']}"
    return Reader(folder, environment, made(service))


def made(service: Running) -> dict[str, str]:
    """Make the things that stand in the documents as examples, and return what to put in their places."""
    job = service.ask("/indexing/jobs", {"type": "check", "urls": ["https://example.org/"], "index": "bing"}).json
    service.wait_for_state(job["job_id"])
    monitor = service.ask("/indexing/monitors", {"urls": ["https://example.org/"], "every": "week"}).json
    heard = service.post_bytes("/tts/stt", *form(("audio", RECORDING.read_bytes(), "weather.flac")))
    key = service.ask("/keys", {"name": "made"}).json
    told = service.ask("/webhooks/test", {"webhook_url": "https://example.org/hook"}).json
    added = service.ask("/webhooks", {"webhook_url": "https://example.org/hook"}).json
    with Database(service.database_url) as database:
        account = open_account(database, name="documented", tier="free", credits=2_000)
    return {
        ".venv/bin/pressroom": "pressroom", "http://127.0.0.1:8000": service.address, "pr_live_…": service.key,
        "6f0c…": job["job_id"], "monitors/0b7e…": f"monitors/{monitor['id']}", "0b7e…": told["id"],
        "$JOB/transcript": f"{heard.headers['X-Job-Id']}/transcript",
        "ACCOUNT_ID": str(account.id), "KEY_ID": str(account.key.id), "DELIVERY_ID": told["id"],
        "4c1f…": added["id"], "123e4567-e89b-12d3-a456-426614174000": key["id"],
    }  # fmt: skip


@pytest.mark.parametrize("block", CASES)
def test_lines_of_the_documents_run_as_they_stand(reader: Reader, block: str) -> None:
    ran = reader.run(block)
    is_refused = any(path in block and f'"code":"{code}"' in ran.stdout for path, code in REFUSED.items())
    assert ran.returncode == 0 or is_refused, f"{block}\n{ran.stdout[-2_000:]}\n{ran.stderr[-2_000:]}"
