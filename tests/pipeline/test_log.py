"""Lines of a process that holds them are written together, in order, and what is worse than information at once."""

import asyncio
import io
import threading
from types import SimpleNamespace

import pytest

from pipeline.log import Held, Lines


class Counted:
    """A standard error that counts what is written to it."""

    def __init__(self) -> None:
        self.writes: list[str] = []

    def write(self, text: str) -> None:
        self.writes.append(text)

    def flush(self) -> None:
        pass


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a process that holds its lines has written, a write an entry."""
    stderr = Counted()
    monkeypatch.setattr("pipeline.log.held", Held())
    # sys.stderr itself is pytest's.
    monkeypatch.setattr("pipeline.log.sys", SimpleNamespace(stderr=stderr))
    return stderr.writes


def test_lines_are_written_at_once_where_no_loop_holds_them(written: list[str]) -> None:
    Lines("a").info("one")
    Lines("b").error("two")
    assert written == ["one\n", "two\n"]


def test_lines_of_a_loop_are_written_together(written: list[str]) -> None:
    from pipeline.log import held

    async def say() -> None:
        held.begin()
        for number in range(5):
            Lines("a").info(str(number))
        thread = threading.Thread(target=Lines("b").info, args=("5",))
        thread.start()
        thread.join()
        assert written == []
        while not written:
            await asyncio.sleep(0.01)
        Lines("a").info("last")
        held.end()

    asyncio.run(say())
    assert written == ["0\n1\n2\n3\n4\n5\n", "last\n"]


def test_a_warning_is_written_at_once_behind_what_was_held(written: list[str]) -> None:
    from pipeline.log import held

    async def say() -> None:
        held.begin()
        Lines("a").info("one")
        Lines("a").warning("two")
        assert written == ["one\ntwo\n"]
        held.end()

    asyncio.run(say())


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_who_logs_goes_on_where_no_line_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (Broken(), closed):
        monkeypatch.setattr("sys.stderr", stream)
        Held().write("run started")
