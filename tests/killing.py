"""Killing: a kind whose API process kills itself once, after the commit and before the wake-up, if KILL_FILE exists.

Loaded by `PRESSROOM_KINDS=…,killing:Killing`; in any process but the API it changes nothing.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from made_up import MadeUp


class Killing(MadeUp):
    """POST /killing."""

    name = "killing"
    routes = ("/killing",)


def _die_before_the_wake_up(waking: Any) -> None:
    wake = waking.Waker._send_one

    def die_or_wake(waker: Any, queue: str) -> Any:
        marker = Path(os.environ["KILL_FILE"])
        if marker.exists():
            marker.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return wake(waker, queue)

    waking.Waker._send_one = die_or_wake


if "api.services.services" in sys.modules:
    _die_before_the_wake_up(sys.modules["api.services.services"])
