"""Environments: virtual environments for what is measured or measures, each made once from what is pinned."""

import hashlib
import subprocess
import sys
from pathlib import Path

from scripts.system.programs import ROOT

#: Git ignores it.
CACHE = ROOT / ".benchmarks"


def python_with(requirements: Path, cache: Path = CACHE) -> Path:
    """Return the Python of an environment that has just what a file pins; it is named after the file, and kept."""
    folder = cache / requirements.stem
    python = folder / "bin" / "python"
    # Another version, or other packages, would not be those of the page.
    wanted = hashlib.sha256(f"{sys.version}\n{requirements.read_text()}".encode()).hexdigest()
    mark = folder / "installed"
    if not mark.exists() or mark.read_text() != wanted:
        print(f"  installing {requirements.relative_to(ROOT)} into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        # Oban asks for Python 3.12; benchmarks/peers/programs/oban_peer.py makes do with less.
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--ignore-requires-python")  # fmt: skip
        subprocess.run([*pip, "--requirement", requirements], check=True)
        mark.write_text(wanted)
    return python
