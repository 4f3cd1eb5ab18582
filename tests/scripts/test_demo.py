"""The demo's way out."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline.settings import Settings
from scripts import demo
from scripts.control import System

SYSTEM = System(1, "http://127.0.0.1:9", "postgresql://nowhere", "redis://nowhere")


def run(monkeypatch: Any, tmp_path: Path) -> int | str | None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRESSROOM_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "argv", ["demo"])
    with pytest.raises(SystemExit) as ended:
        demo.main()
    return ended.value.code


def test_ctrl_c_while_it_asks_ends_it_without_a_traceback(monkeypatch: Any, tmp_path: Path) -> None:
    @contextmanager
    def running_system(_: Settings) -> Iterator[tuple[System, None]]:
        yield SYSTEM, None

    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "running_system", running_system)
    monkeypatch.setattr(demo, "ask_for_everything", interrupted)

    assert run(monkeypatch, tmp_path) == 130


def test_ctrl_c_while_it_serves_is_how_it_ends(monkeypatch: Any, tmp_path: Path) -> None:
    class Process(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            raise KeyboardInterrupt

    @contextmanager
    def running_system(_: Settings) -> Iterator[tuple[System, Process]]:
        yield SYSTEM, Process.__new__(Process)

    async def nothing(*_: object) -> list[demo.Shown]:
        return []

    monkeypatch.setattr(demo, "running_system", running_system)
    monkeypatch.setattr(demo, "ask_for_everything", nothing)

    assert run(monkeypatch, tmp_path) == 0
