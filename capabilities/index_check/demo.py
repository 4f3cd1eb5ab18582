"""The demo of index checks waits for their result, which needs the Internet."""

import asyncio
import time

from capabilities.index_check.kinds.index_check import IndexCheck
from scripts.demo.steps import Answered

#: Longest wait for a search engine on the Internet.
PATIENCE_SECONDS = 5


async def _show(answered: Answered) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    location = answered.response.headers["Location"]
    while True:
        async with answered.session.get(f"{location}/urls") as response:
            (record,) = await response.json()
        found = record["raw_result"]
        if found is not None:
            if found.get("code") == "transport":
                return "not reachable: no search engine answers here"
            return f"{record['url']}: {found['reason']} ({found.get('provider', found['code'])})"
        if time.monotonic() > until:
            if answered.is_last:  # the system would wait for it, and ask again at its next start
                async with answered.session.post(f"/jobs/{location.rpartition('/')[2]}/cancel"):
                    pass
            return "not reachable so far, being tried again" if record["last_error"] else "still running"
        await asyncio.sleep(0.1)


SHOWN = {IndexCheck.name: _show}
