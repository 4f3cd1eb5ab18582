"""Syncing: what a program must find again after a loss of power."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Return when the disk has the names in a folder; files are synced by who writes them. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
