"""The work of a job, the same for every peer: nothing, or a pause between two lines appended to a file."""

import asyncio
import os
import time

#: True if jobs of killed workers are recovered, as each peer's documents say how.
RECOVERS = os.environ.get("RECOVERS", "yes") == "yes"
#: Seconds without a sign of life after which a worker counts as dead, where it can be set.
DEAD_AFTER = 4


def carry_out(name: str, seconds: float) -> str:
    """Do a job."""
    if seconds:
        _note("began", name)
        time.sleep(seconds)
        _note("ended", name)
    return name


async def carry_out_async(name: str, seconds: float) -> str:
    """Do a job of a worker that is a loop."""
    if seconds:
        _note("began", name)
        await asyncio.sleep(seconds)
        _note("ended", name)
    return name


def _note(what: str, name: str) -> None:
    # One write of less than a page to a file opened for appending: lines of several processes never mix.
    file = os.open(os.environ["EFFECTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{what} {name}\n".encode())
    os.close(file)
