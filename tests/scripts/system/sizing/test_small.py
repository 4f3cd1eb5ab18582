"""A small system: what it sets, where its operator has not, and when a process gives models back."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from pipeline.settings import Settings
from scripts.system.sizing.small import small_environment, smaller
from workers.pool.resting import WORTH_BYTES, rest_when_idle


def test_a_small_system_sets_what_its_operator_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_MODELS__DOWNLOAD", "never")
    settings = smaller(Settings(data=tmp_path))

    assert (settings.small, settings.api.processes) == (True, 1)
    assert small_environment(settings) == {
        "PRESSROOM_SMALL": "true",
        "PRESSROOM_API__PROCESSES": "1",
        "PRESSROOM_TRANSCRIPTION__WHISPER__IDLE_MINUTES": "1",
        "PRESSROOM_WORK__REST_MINUTES": "3",
    }
    assert small_environment(Settings(data=tmp_path)) == {}


@pytest.mark.parametrize(("grows_by", "rests", "leaves"), [(0, True, True), (-1, True, False), (0, False, False)])
def test_a_process_trims_its_memory_after_work_and_leaves_if_work_took_much(
    grows_by: int, rests: bool, leaves: bool
) -> None:
    left, moment, began, trimmed = threading.Event(), timedelta(milliseconds=5), time.monotonic(), []
    worked = iter([0.0, 0.0])  # then since the beginning
    memory = iter([40_000_000, 50_000_000])  # while it starts

    rest_when_idle(
        lambda: next(worked, began),
        moment if rests else None,
        look_every=moment,
        taken=lambda: next(memory, 50_000_000 + WORTH_BYTES + grows_by),
        trim=lambda: trimmed.append(True),
        leave=left.set,
    )
    assert left.wait(10 if leaves else 0.2) == leaves
    assert trimmed == [True]
