"""The machine: what a container may use of it."""

import os
from pathlib import Path

import pytest

from workers.models.machine import count_cores

SEEN = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("100000 100000", 1),
        ("50000 100000", 1),
        ("190000 100000", 1),
        ("99900000 100000", SEEN),
        ("max 100000", SEEN),
        ("", SEEN),
        ("100000 0", SEEN),
    ],
)
def test_cores_are_those_that_the_quota_of_a_container_pays_for(tmp_path: Path, quota: str, cores: int) -> None:
    (tmp_path / "cpu.max").write_text(f"{quota}\n")

    assert count_cores(tmp_path / "cpu.max") == cores
