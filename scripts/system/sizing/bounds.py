"""Bounds: the least and the most processes of each pool that was scaled, kept over restarts."""

import json
from pathlib import Path

from scripts.system.folders import write_private

FILE = "pools.json"


def read_bounds(data: Path) -> dict[str, tuple[int, int]]:
    """Return the least and the most processes of each pool that was scaled."""
    try:
        return {name: (int(low), int(high)) for name, (low, high) in json.loads((data / FILE).read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep_bounds(data: Path, name: str, low: int, high: int) -> None:
    """Keep a pool's bounds for the next start."""
    write_private(data / FILE, json.dumps(read_bounds(data) | {name: (low, high)}))
