"""Demo steps: what the demo is at, a line each, with the time since it began."""

import time

from rich.console import Console
from rich.text import Text


class Steps:
    """Prints steps as they happen."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(soft_wrap=True)
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        """Print a step."""
        seconds = time.monotonic() - self._began
        self._console.print(Text.assemble((f"{seconds:6.1f} s  ", "dim"), text), highlight=False)
