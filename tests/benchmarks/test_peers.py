"""The page about peers says what was measured: pairs, ratios, tables and plots; and what is installed is pinned."""

import ast
import re
import sys
from pathlib import Path

import pytest

from benchmarks.peers.catalogue import OBAN, PEERS, PROGRAMS, Peer
from benchmarks.peers.findings import OURS, ROUND_TRIPS, Speed, Spread
from benchmarks.peers.page import DOCS, PLOTS
from benchmarks.peers.speed import alternate

#: Modules of packages that have another name.
PACKAGES = {"taskiq_redis": "taskiq-redis"}


def test_a_ratio_is_the_median_of_neighbouring_rounds_and_not_of_medians() -> None:
    speed = Speed(ROUND_TRIPS, 32, "/s", {"rq": [(100, 50), (100, 200), (300, 100)]})

    assert speed.ratio("rq") == 2.0  # of 2, 0.5 and 3
    assert speed.spread("rq") == Spread(100, 50, 200)
    assert speed.spread(OURS) == Spread(100, 100, 300)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_ours_is_measured_right_before_or_after_each_peer(count: int) -> None:
    order: list[str] = []

    def ours() -> int:
        order.append("ours")
        return len(order)

    def theirs(peer: str) -> int:
        order.append(peer)
        return len(order)

    peers = [f"peer {number}" for number in range(count)]
    found = alternate(peers, 3, ours, theirs)

    assert sorted(peer for peer, _, _ in found) == sorted(peers * 3)
    assert all(mine is not None and other is not None and abs(mine - other) == 1 for _, mine, other in found)
    first = [found[number * count][0] for number in range(3)]
    assert first == [peers[number % count] for number in range(3)]  # they take turns


@pytest.mark.parametrize("peer", [*PEERS, OBAN], ids=lambda peer: peer.name)
def test_everything_that_a_peer_imports_is_pinned(peer: Peer) -> None:
    lines = [line for line in peer.requirements.read_text().splitlines() if not line.startswith("#")]
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}

    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert lines == sorted(lines, key=str.lower)
    assert {"celery": "flask", "rq": "flask", "dramatiq": "flask"}.get(peer.name, "starlette") in pinned
    ours = {file.stem for file in PROGRAMS.glob("*.py")}
    for name in imported(PROGRAMS / f"{peer.module}.py") - ours:
        assert PACKAGES.get(name, name) in pinned, f"{peer.module} imports {name}"
    assert peer.front[1] in pinned


def imported(program: Path) -> set[str]:
    """Return the packages that a program and what it takes from beside it import, but Python's own."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(program.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names


def test_the_page_in_the_documents_has_all_peers_and_their_pinned_versions() -> None:
    text = (DOCS / "benchmarks.md").read_text()

    assert [peer.name for peer in PEERS if f"{peer.name} {peer.version}" not in text] == []
    assert all((DOCS / file).exists() for file in PLOTS)
