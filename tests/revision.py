"""Revision: which commit was measured, when, and on what machine; for the pages of measured figures."""

import os
import platform
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Files that measurements write; they do not change the measured code.
WRITTEN = ("docs/faults.md", "docs/pictures", "docs/security.md", "docs/soak.md", "out")


def revision() -> str:
    """Return the short name of the current commit, with "-dirty" if other files than WRITTEN differ from it."""
    left_out = [f":(exclude,top){path}" for path in WRITTEN]
    is_dirty = bool(_git("status", "--porcelain", "--", ".", *left_out))
    return _git("rev-parse", "--short", "HEAD") + ("-dirty" if is_dirty else "")


def measured() -> str:
    """Return date, commit and machine of a measurement, as its page shows them."""
    day = time.strftime("%d %B %Y", time.gmtime())
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return f"{day}, commit {revision()}, {machine}"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
