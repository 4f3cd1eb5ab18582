"""Measuring: the whole comparison, and the page that tells of it."""

import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import CACHE, python_with
from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.findings import Findings
from benchmarks.peers.loss import measure_losses, patience_seconds
from benchmarks.peers.page import DOCS, tables, write_page
from benchmarks.peers.speed import measure_speed
from benchmarks.report import Table, machine
from scripts.system.embedded import postgres as embedded_postgres
from scripts.system.embedded import redis as embedded_redis

ROUNDS, QUICK_ROUNDS = 5, 2
#: Where the last run's findings are kept; a quick run's page lies beside them, and docs/ stays as it is.
FINDINGS = CACHE / "findings.json"


def measure_all(*, quick: bool) -> Iterator[Table]:
    """Measure speed and loss, and write the page."""
    for peer in PEERS:
        python_with(peer.requirements)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with TemporaryDirectory(prefix="pressroom-peers-") as name:
        folder = Path(name)
        where, versions = machine(), _versions()
        speeds = measure_speed(folder, rounds=rounds, quick=quick)
        losses = measure_losses(folder, quick=quick)
    findings = Findings(where, versions, rounds, patience_seconds(quick=quick), speeds, losses)
    findings.write(FINDINGS)
    write_page(findings, CACHE / "quick" if quick else DOCS)
    yield from tables(findings)


def _versions() -> dict[str, str]:
    """Return what all of them run on, and their own versions."""
    postgres = _said(embedded_postgres.find_binaries() / "postgres").split()[-1]
    redis = _said(embedded_redis.find_binary())  # "Valkey server v=9.1.2 sha=…"
    served = re.search(r"v=([\d.]+)", redis)
    servers = {
        "Python": platform.python_version(),
        "PostgreSQL": postgres,
        redis.partition(" ")[0]: served[1] if served else "",
    }
    return servers | {peer.name: peer.version for peer in PEERS}


def _said(program: Path) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
