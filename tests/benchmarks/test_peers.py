"""The page about peers says what was measured: pairs, ratios, tables and plots; and what is installed is pinned."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.peers.bars import Bar, Panel, draw
from benchmarks.peers.catalogue import PEERS, PROGRAMS, Peer
from benchmarks.peers.findings import ONE_AT_A_TIME, OURS, ROUND_TRIPS, SUBMISSIONS, Findings, Loss, Speed, Spread
from benchmarks.peers.page import DOCS, PLOTS, page, plot, write_page
from benchmarks.peers.speed import alternate

SVG = "{http://www.w3.org/2000/svg}"
#: Modules of packages that have another name.
PACKAGES = {"taskiq_redis": "taskiq-redis"}


def findings(**failed: int) -> Findings:
    names = [peer.name for peer in PEERS]
    rates = {name: [(200.0, 100.0), (300.0, 100.0), (90.0, 100.0)] for name in names if name not in failed}
    speeds = [
        Speed(what, clients, "/s", rates, failed) for what in (ROUND_TRIPS, SUBMISSIONS) for clients in (1, 32, 256)
    ]
    speeds.append(Speed(ONE_AT_A_TIME, 1, "ms", {name: [(6.0, 4.0)] for name in names}))
    losses = [Loss(name, 20, 100, 96, 1, 2, 5, 75.0) for name in names]
    losses += [Loss(peer.name, 20, 100, 80, 0, 0, 0, 75.0, by_default=True) for peer in PEERS if peer.by_default]
    losses.append(Loss(OURS, 20, 100, 100, 0, 1, 6, 8.4))
    versions = {"Python": "3.11.7", "PostgreSQL": "18.4", "Valkey": "9.1"} | {peer.name: peer.version for peer in PEERS}
    return Findings("2026-11-24, 2 cores", versions, 3, 75, speeds, losses)


def rows(text: str, start: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(start)
    ]


def test_a_ratio_is_the_median_of_neighbouring_rounds_and_not_of_medians() -> None:
    speed = Speed(ROUND_TRIPS, 32, "/s", {"rq": [(100, 50), (100, 200), (300, 100)]})

    assert speed.ratio("rq") == 2.0  # of 2, 0.5 and 3
    assert speed.spread("rq") == Spread(100, 50, 200)
    assert speed.spread(OURS) == Spread(100, 100, 300)


def test_a_peer_whose_rounds_all_failed_has_no_figures() -> None:
    speed = Speed(ROUND_TRIPS, 32, "/s", {"rq": [(100, 50)]}, {"arq": 5})

    assert speed.ratio("arq") is None
    assert speed.spread("arq") is None


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


def test_a_round_that_failed_is_told_without_a_figure() -> None:
    found = alternate(["a", "b"], 1, lambda: 1.0, lambda peer: None if peer == "a" else 2.0)

    assert found == [("a", 1.0, None), ("b", 1.0, 2.0)]


def test_findings_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = findings(arq=3)
    written.write(tmp_path / "findings.json")

    assert page(Findings.read(tmp_path / "findings.json")) == page(written)


def test_the_page_has_every_peer_with_version_ratio_and_losses() -> None:
    text = page(findings())

    for peer in PEERS:
        label = f"| {peer.name} {peer.version} "
        trips, one, submissions, kills = rows(text, label)[:4]
        assert trips == submissions == [label.strip("| "), *["100/s"] * 3, *["2.00"] * 3]
        assert one == [label.strip("| "), "4.0 ms [4.0 – 4.0]", "1.50"]
        assert kills == [label.strip("| "), "100", "96", "1", "3", "2", "5", "–"]
    assert rows(text, f"| **{OURS}** ")[0][1:4] == ["200/s"] * 3
    assert "makes 2.00 to 2.0 times as many round trips" in text
    assert "lost 0 of 100 jobs" in text
    assert rows(text, f"| **{OURS}** ")[-1][1:] == ["100", "100", "0", "0", "1", "6", "8 s"]
    assert "$" not in text


def test_what_is_less_safe_by_default_stands_in_a_row_of_its_own() -> None:
    text = page(findings())

    for peer in PEERS:
        found = [row for row in rows(text, f"| {peer.name} ") if row[0].endswith(", by default")]
        assert len(found) == bool(peer.by_default)


def test_failed_rounds_are_named() -> None:
    assert "No round of any of them failed." in page(findings())
    assert "rq: 2 of 3 rounds of round trips with 32 clients" in page(findings(rq=2))


def test_a_plot_has_a_bar_for_everyone_in_proportion_and_the_range() -> None:
    bars = [Bar("ours", "50/s", 50, 40, 100, is_ours=True), Bar("<theirs>", "25/s", 25, 20, 30), Bar("none", "failed")]
    root = ElementTree.fromstring(draw("Rates", [Panel("32 clients", bars)]))

    first, second = (float(found.get("width", "")) for found in root.iter(f"{SVG}rect"))
    assert first == pytest.approx(2 * second)
    assert len(list(root.iter(f"{SVG}path"))) == 2
    texts = [found.text for found in root.iter(f"{SVG}text")]
    assert texts == ["32 clients", "ours", "50/s", "<theirs>", "25/s", "none", "failed"]
    right = max(float(found.get("x", "")) + float(found.get("width", "")) for found in root.iter(f"{SVG}rect"))
    assert right < float(root.get("width", ""))


def test_plots_have_colours_for_dark_pages_and_are_light_enough_for_the_repository(tmp_path: Path) -> None:
    write_page(findings(), tmp_path)

    files = [tmp_path / file for file in PLOTS]
    assert all("prefers-color-scheme: dark" in file.read_text() for file in files)
    assert sum(file.stat().st_size for file in files) < 100_000
    for file in PLOTS:
        assert f"]({file})" in (tmp_path / "benchmarks.md").read_text()


def test_a_plot_names_whose_rounds_failed() -> None:
    assert plot(findings(arq=3), ROUND_TRIPS).count(">failed<") == 3


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
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
