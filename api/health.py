"""Health: whether this process lives, and whether what it needs is there."""

import falcon.asgi

from api.answers import show_json


class Alive:
    """GET /healthz."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer: the process lives."""
        show_json(resp, {"status": "alive"})

    on_head = on_get
