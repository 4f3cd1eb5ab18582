"""Demo steps: progress lines with the time since the start, and the answers."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from rich.console import Console
from rich.text import Text


class Steps:
    """Prints steps as they happen."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(soft_wrap=True)
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        seconds = time.monotonic() - self._began
        self._console.print(Text.assemble((f"{seconds:6.1f} s  ", "dim"), text), highlight=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to a kind's example. `is_last`: the system stops afterwards, so open work is cancelled."""

    session: aiohttp.ClientSession
    response: aiohttp.ClientResponse
    document: dict[str, Any]
    file: Path
    is_last: bool
