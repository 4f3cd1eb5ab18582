"""The memory that a control group allows: both versions, in containers, units and on bare machines."""

from pathlib import Path

import pytest

from workers.models.cgroup import MemoryGroup

V1 = {"memory.limit_in_bytes": "700", "memory.usage_in_bytes": "300"}
V1["memory.stat"] = "inactive_file 9\ntotal_inactive_file 40\ntotal_active_file 20"
V2 = {"memory.max": "700", "memory.current": "300", "memory.events": "max 4"}
V2["memory.stat"] = "anon 1\ninactive_file 40\nactive_file 20"
UNLIMITED = {"memory.max": "max", "memory.current": "300", "memory.events": "max 4\noom_kill 2"}


@pytest.mark.parametrize(
    ("own", "folders", "limit", "left", "kills"),
    [
        ("0::/\n", {"": V2 | {"memory.events": "oom 7\noom_kill 3"}}, 700, 450, 3),
        ("0::/system.slice/a.service\n", {"system.slice": V2, "system.slice/a.service": UNLIMITED}, 700, 450, 2),
        ("0::/../outside\n", {"": V2}, 700, 450, 9),
        ("9:memory:/docker/abc\n0::/\n", {"memory": V1 | {"memory.oom_control": "oom_kill 5"}}, 700, 450, 5),
        ("9:cpu:/\n4:memory:/own\n0::/\n", {"memory": {}, "memory/own": V1}, 700, 450, 9),
        ("0::/\n", {"": UNLIMITED}, None, None, 2),
        ("0::/\n", {}, None, None, 9),
        (None, {}, None, None, 9),
    ],
)
def test_the_limit_is_that_of_the_groups_we_are_in(
    tmp_path: Path, own: str | None, folders: dict[str, dict[str, str]], limit: int | None, left: int | None, kills: int
) -> None:
    for name, files in folders.items():
        (tmp_path / "cgroup" / name).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (tmp_path / "cgroup" / name / file).write_text(f"{text}\n")
    if own is not None:
        (tmp_path / "own").write_text(own)
    (tmp_path / "vmstat").write_text("pgfault 1\noom_kill 9\n")

    group = MemoryGroup(tmp_path / "cgroup", tmp_path / "own", tmp_path / "vmstat")

    assert (group.limit(), group.left(), group.kills()) == (limit, left, kills)
