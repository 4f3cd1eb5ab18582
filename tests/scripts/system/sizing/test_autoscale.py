"""Pools between two bounds: how they grow and shrink by their queue's age, and that a start knows the bounds."""

from pathlib import Path

import pytest

from pipeline.errors import InvalidRequest
from pipeline.operations.load import QueueLoad
from scripts.commands.system import read_bounds as read_words
from scripts.system.sizing.autoscale import next_size
from scripts.system.sizing.bounds import FILE, keep_bounds, read_bounds


@pytest.mark.parametrize(
    ("size", "ready", "leased", "oldest", "idle", "wanted"),
    [
        (1, 3, 1, 5.0, 0, 2), (4, 3, 4, 60.0, 0, 4), (2, 3, 2, 1.0, 0, 2), (2, 0, 0, 0.0, 59, 2), (2, 0, 1, 0.0, 60, 1),
        (2, 0, 2, 0.0, 60, 2), (1, 0, 0, 0.0, 999, 1), (0, 0, 0, 0.0, 0, 1), (9, 1, 0, 0.0, 0, 4),
    ],
)  # fmt: skip
def test_a_pool_grows_with_its_queues_age_and_shrinks_when_idle_between_its_bounds(
    size: int, ready: int, leased: int, oldest: float, idle: float, wanted: int
) -> None:
    load = QueueLoad("synthesis", ready, 0, leased, oldest)
    assert next_size(size, (1, 4), load, idle_seconds=idle) == wanted


def test_bounds_are_kept_and_a_broken_file_has_none(tmp_path: Path) -> None:
    keep_bounds(tmp_path, "synthesis", 1, 4)
    keep_bounds(tmp_path, "vision", 2, 2)
    assert read_bounds(tmp_path) == {"synthesis": (1, 4), "vision": (2, 2)}
    (tmp_path / FILE).write_text("[1]")
    assert read_bounds(tmp_path) == {}


def test_bounds_are_read_from_the_command_line() -> None:
    assert [read_words(text) for text in ("vision=3", "vision=0..2")] == [("vision", 3, 3), ("vision", 0, 2)]
    for text in ("vision=3..", "vision=3..2", "vision=..2", "vision"):
        with pytest.raises(InvalidRequest):
            read_words(text)
