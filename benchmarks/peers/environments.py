"""Environments: a virtual environment for each peer, made once from what is pinned."""

import hashlib
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.catalogue import Peer
from scripts.system.programs import ROOT

#: Git ignores it.
CACHE = ROOT / ".benchmarks" / "peers"


def python_of(peer: Peer, cache: Path = CACHE) -> Path:
    """Return the Python of a peer's environment, which is made unless it is there with just what is pinned."""
    folder = cache / peer.name
    python = folder / "bin" / "python"
    # Of another version, or with other packages, it would measure something else than the page says.
    wanted = hashlib.sha256(f"{sys.version}\n{peer.requirements.read_text()}".encode()).hexdigest()
    mark = folder / "installed"
    if not mark.exists() or mark.read_text() != wanted:
        print(f"  installing {peer.name} {peer.version} into {folder.relative_to(ROOT)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
        subprocess.run([*pip, "--requirement", peer.requirements], check=True)
        mark.write_text(wanted)
    return python
