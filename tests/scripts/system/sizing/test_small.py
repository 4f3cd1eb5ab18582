"""A small system: what it sets, where its operator has not, and when a process gives models back."""

from pathlib import Path

import pytest

from pipeline.settings import Settings
from scripts.system.programs import pool
from scripts.system.sizing.small import small_environment, smaller


def test_a_small_system_sets_what_its_operator_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_MODELS__DOWNLOAD", "never")
    settings = smaller(Settings(data=tmp_path))

    assert (settings.small, settings.api.processes) == (True, 1)
    assert small_environment(settings) == {
        "PRESSROOM_SMALL": "true",
        "PRESSROOM_API__PROCESSES": "1",
        "PRESSROOM_TRANSCRIPTION__WHISPER__IDLE_MINUTES": "1",
    }
    assert small_environment(Settings(data=tmp_path)) == {}


def test_pools_that_share_a_process_have_a_thread_each() -> None:
    command = pool(Settings(), "vision", "synthesis")
    assert command[command.index("--queues") :][:3] == ("--queues", "vision", "synthesis")
    assert "--threads=2" in command
