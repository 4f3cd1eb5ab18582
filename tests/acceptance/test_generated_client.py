"""A client that is generated from the document works: openapi-python-client makes one, and its calls are made.

The generator wants an older typer than releases are locked with, so it is in no extra, and without it nothing runs
here: `pip install --no-deps openapi-python-client httpx httpcore ruamel.yaml` brings it."""

import importlib
import io
import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from spoken import FOLDER
from systems import FAST, Running, system

pytestmark = pytest.mark.system
generator = pytest.importorskip("openapi_python_client")
NAME = "generated_pressroom"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with system(tmp_path_factory.mktemp("generated") / "data", extra=FAST) as running:
        yield running


@pytest.fixture(scope="module")
def generated(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package, of the document that the service answers with."""
    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    document.write_bytes(service.ask("/openapi.json").body)
    config = generator.config
    wanted = config.Config.from_sources(
        config.ConfigFile(post_hooks=[]), config.MetaType.NONE, document, "utf-8", True, output_path=folder / NAME
    )
    faults = [error for error in generator.generate(config=wanted) if "Unsupported content_type" not in error.detail]
    assert not faults, faults
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(NAME)
    finally:
        sys.path.remove(str(folder))


class Calls:
    """The generated calls by their operations, with a key, and with models by their names."""

    def __init__(self, package: ModuleType, service: Running) -> None:
        self._package = package
        self._client = package.AuthenticatedClient(
            service.address, service.key, prefix="", auth_header_name="X-API-Key", timeout=120
        )

    def __call__(self, operation: str, *arguments: Any, **parameters: Any) -> Any:
        """Make a call; returns its whole answer."""
        call = importlib.import_module(f"{NAME}.api.{operation}")
        return call.sync_detailed(*arguments, client=self._client, **parameters)

    def model(self, name: str, **fields: Any) -> Any:
        return getattr(importlib.import_module(f"{NAME}.models"), name)(**fields)

    def file(self, content: bytes, name: str) -> Any:
        return importlib.import_module(f"{NAME}.types").File(io.BytesIO(content), name, "application/octet-stream")


@pytest.fixture(scope="module")
def calls(service: Running, generated: ModuleType) -> Calls:
    return Calls(generated, service)


def ended(calls: Calls, job_id: Any) -> Any:
    """Poll a job until it has ended."""
    until = time.monotonic() + 120
    while (job := calls("jobs.get_job", job_id).parsed).finished_at is None:
        assert time.monotonic() < until, job
        time.sleep(0.1)
    return job


def test_a_text_is_submitted_polled_fetched_and_listed(calls: Calls) -> None:
    body = calls.model("SpeechRequest", text="Good morning!", language=None)
    taken = calls("synthesis.post_tts", body=body, prefer="respond-async", idempotency_key="generated")
    job = ended(calls, taken.parsed.id)
    sound = calls("jobs.get_job_result", job.id)
    listed = calls("jobs.get_jobs", state=[job.state], limit=5)

    assert (taken.status_code, str(job.state), job.error) == (202, "succeeded", None)
    assert sound.content[:4] == b"RIFF"
    assert [one.id for one in listed.parsed] == [job.id]


def test_files_are_uploaded(calls: Calls) -> None:
    recording = (FOLDER / "weather.flac").read_bytes()
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
