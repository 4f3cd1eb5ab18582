"""Cgroup: the memory that Linux allows this process's control group, as containers and systemd units set it.

Version 2 and version 1 of control groups name the same things differently, and may both be there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROOT, OWN, VMSTAT = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"), Path("/proc/vmstat")


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """The group of this process and those around it."""

    root: Path = ROOT
    own: Path = OWN
    vmstat: Path = VMSTAT

    def limit(self) -> int | None:
        """Return the lowest limit in bytes; None: none is set."""
        return min((limit for folder in self._folders() if (limit := _limit(folder)) is not None), default=None)

    def left(self) -> int | None:
        """Return how many bytes the groups may still take. None: no limit is set.

        Cached files count as free, but for a half of those in use, as in the kernel's MemAvailable."""
        found = []
        for folder in self._folders():
            used = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes")
            if (limit := _limit(folder)) is not None and used is not None:
                stat = _counters(folder / "memory.stat")
                prefix = "total_" if "total_inactive_file" in stat else ""
                cached = stat.get(f"{prefix}inactive_file", 0) + stat.get(f"{prefix}active_file", 0) // 2
                found.append(max(0, limit - used + cached))
        return min(found, default=None)

    def kills(self) -> int:
        """Return how many processes were killed for their memory, here or on the whole machine; 0 if nobody counts."""
        for folder in self._folders():
            for name in ("memory.events", "memory.oom_control"):
                if (kills := _counters(folder / name).get("oom_kill")) is not None:
                    return kills
        return _counters(self.vmstat).get("oom_kill", 0)

    def _folders(self) -> Iterator[Path]:
        """Yield the folders of our group and of those around it, from the inside."""
        try:
            groups = [line.split(":", 2)[1:] for line in self.own.read_text().splitlines()]
        except OSError:
            return
        for controllers, path in groups:
            if controllers in ("", "memory"):
                top = self.root / controllers
                # A container sees its group as the root, though version 1 names the path outside.
                folder = top / path.lstrip("/") if ".." not in path and (top / path.lstrip("/")).is_dir() else top
                yield from (one for one in (folder, *folder.parents) if one.is_relative_to(top))


def _limit(folder: Path) -> int | None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (limit := _number(folder / name)) is not None:
            return limit
    return None


def _number(file: Path) -> int | None:
    return _read(file, int)


def _counters(file: Path) -> dict[str, int]:
    return _read(file, lambda text: {name: int(value) for name, value in map(str.split, text.splitlines())}) or {}


def _read(file: Path, parse: Callable[[str], T]) -> T | None:
    try:
        return parse(file.read_text())
    except (OSError, ValueError):  # not of this version, or "max"
        return None
