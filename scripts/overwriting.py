"""Overwriting: files that a command would write, checked before anything is paid for."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from pipeline.errors import InvalidRequest


def check_outputs(files: Iterable[Path], *, overwrite: bool) -> None:
    """Refuse files that can't be written; at a terminal, ask about those that are there.

    Raises InvalidRequest, typer.Abort."""
    for file in files:
        _check_writable(file)
        if not file.exists() or overwrite:
            continue
        if not sys.stdin.isatty():
            raise InvalidRequest(f"{file} is there already. Say --overwrite, or choose another name.")
        typer.confirm(f"{file} is there already. Overwrite it?", abort=True, err=True)


def _check_writable(file: Path) -> None:
    if file.is_dir():
        raise InvalidRequest(f"{file} is a folder. Say which file to write, such as {file / 'out.mp3'}.")
    if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
        raise InvalidRequest(f"{file} can't be written: {file.parent} is no folder that you may write to.")
