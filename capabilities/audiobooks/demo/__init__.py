"""The demo of audiobooks: a plan, and a book of two chapters as an M4B."""

import asyncio
import json
import time
from pathlib import Path

from capabilities.audiobooks.kinds.audiobook import Audiobook
from capabilities.audiobooks.kinds.plan import EXAMPLE_URL, Plan
from scripts.demo.steps import Answered

SERVED = {EXAMPLE_URL: Path(__file__).with_name("manuscript.md")}
#: Longest wait for the passages.
PATIENCE_SECONDS = 60


async def _show_plan(answered: Answered) -> str:
    """Return the length and the price of a book."""
    found = answered.document
    return f"{len(found['chapters'])} chapters, {found['characters']:,} characters, {found['credits']} credits"


async def _show_book(answered: Answered) -> str:
    """Wait for a book's passages, and write its file."""
    location = answered.response.headers["Location"]
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        async with answered.session.get(location) as response:
            job = await response.json()
        if job["state"] not in ("queued", "running"):
            break
        await asyncio.sleep(0.2)
    async with answered.session.post(f"/audiobooks/{job['id']}/files", json={"format": "m4b"}) as response:
        content = await response.read()
        if response.status != 200:
            return f"{job['state']}: {json.loads(content)['message']}"
    file = answered.file.with_suffix(".m4b")
    file.write_bytes(content)
    return f"{job['progress']['total']:.0f} passages, {len(content):,} bytes in {file}"


SHOWN = {Plan.name: _show_plan, Audiobook.name: _show_book}
