"""A client that is generated from the document works: openapi-python-client makes one.

The generator is installed here, into a folder of its own, with what the test's environment lacks for it: in no extra,
because it wants an older typer than releases are locked with, though it runs with a newer one."""

import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tools
from spoken import FOLDER
from systems import Running
from waiting import wait_for

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]
NAME = "generated_pressroom"
GENERATOR = ("openapi-python-client>=0.29,<0.30", "ruamel.yaml", "httpx", "httpcore")


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the generator is installed in."""
    folder = tmp_path_factory.mktemp("generator")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder]
    run = subprocess.run([*pip, *GENERATOR], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode:
        reason = f"pip can't install {GENERATOR[0]}: {run.stderr.strip()[-300:]}"
        tools.skip("pypi", reason)
    return folder


@pytest.fixture(scope="module")
def generated(generator: Path, service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package, of the document that the service answers with."""
    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    document.write_bytes(service.ask("/openapi.json").body)
    config = folder / "config.yaml"
    told = (ROOT / "docs" / "api.md").read_text("utf-8").rpartition("```yaml\n")[2].partition("```")[0]
    config.write_text(f"post_hooks: []\n{told}")
    run = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--config", config,
            "--meta", "none", "--output-path", folder / NAME,
        ],
        env=os.environ | {"PYTHONPATH": str(generator)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    written = run.stdout + run.stderr
    assert run.returncode == 0, written
    # The generator says that it leaves sounds to the caller; nothing else may be wrong.
    faults = re.findall(r"^(?:WARNING|ERROR) (.+)\n+(.+)$", written, re.MULTILINE)
    assert not [fault for fault in faults if "Unsupported content_type" not in fault[1]], written
    sys.path += [str(folder), str(generator)]
    try:
        yield importlib.import_module(NAME)
    finally:
        sys.path.remove(str(folder))
        sys.path.remove(str(generator))


class Calls:
    """The generated calls by their operations, with a key, and with models by their names."""

    def __init__(self, package: ModuleType, service: Running) -> None:
        self.client = package.AuthenticatedClient(
            service.address, service.key, prefix="", auth_header_name="X-API-Key", timeout=120
        )

    def __call__(self, operation: str, *arguments: Any, **parameters: Any) -> Any:
        """Make a call; returns its whole answer."""
        call = importlib.import_module(f"{NAME}.api.{operation}")
        return call.sync_detailed(*arguments, client=self.client, **parameters)

    def model(self, name: str, /, *values: Any, **fields: Any) -> Any:
        return getattr(importlib.import_module(f"{NAME}.models"), name)(*values, **fields)

    def file(self, content: bytes, name: str) -> Any:
        return importlib.import_module(f"{NAME}.types").File(io.BytesIO(content), name, "application/octet-stream")


@pytest.fixture(scope="module")
def calls(service: Running, generated: ModuleType) -> Iterator[Calls]:
    calls = Calls(generated, service)
    yield calls
    calls.client.get_httpx_client().close()


def ended(calls: Calls, job_id: Any) -> Any:
    """Poll a job until it has ended."""
    return wait_for(lambda: (job := calls("jobs.get_job", job_id).parsed).finished_at and job)


@pytest.fixture(scope="module")
def recording() -> bytes:
    return (FOLDER / "weather.flac").read_bytes()


def test_a_text_is_submitted_polled_fetched_and_listed(calls: Calls) -> None:
    body = calls.model("SpeechRequest", text="Good morning!", language=None)
    taken = calls("synthesis.post_tts", body=body, prefer="respond-async", idempotency_key="generated")
    job = ended(calls, taken.parsed.id)
    sound = calls("jobs.get_job_result", job.id)
    listed = calls("jobs.get_jobs", state=[job.state], limit=5)

    assert (taken.status_code, str(job.state), job.error) == (202, "succeeded", None)
    assert sound.content[:4] == b"RIFF"
    assert [one.id for one in listed.parsed] == [job.id]


def test_files_are_uploaded(calls: Calls, recording: bytes) -> None:
    files = {name: calls.file(recording, f"{name}.flac") for name in ("audio", "music")}
    mixed = calls("synthesis.post_tts_add_music", body=calls.model("AddMusicRequest", **files, music_volume=-30.0))

    assert (mixed.status_code, mixed.headers["Content-Type"]) == (200, "audio/mpeg"), mixed.content
    assert len(mixed.content) > 10_000


def test_errors_are_read_with_their_details(calls: Calls) -> None:
    wrong = calls("synthesis.post_tts", body=calls.model("SpeechRequest", text="Hello", speed=9.0))
    unknown = calls("jobs.get_job", "00000000-0000-4000-8000-000000000000")

    [fault] = wrong.parsed.details
    assert (wrong.status_code, wrong.parsed.code, fault.field, fault.code) == (
        400, "invalid_request", "speed", "field_out_of_range",
    )  # fmt: skip
    assert (unknown.status_code, unknown.parsed.details) == (404, [])
