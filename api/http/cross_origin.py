"""Cross-origin requests: pages of other sites may use the API with a key, where the operator names them.

Credentials are never allowed, so the dashboard's cookie is of no use to them.
"""

from typing import Any

import falcon
import falcon.asgi

#: What a script of such a page may read, besides what it always may.
EXPOSED = (
    *("Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Link", "Location", "Preference-Applied"),
    *("Retry-After", "X-Credits-Remaining", "X-Credits-Used", "X-Engine", "X-Job-Id", "X-RateLimit-Limit"),
    *("X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "X-Searched-Since", "X-Total-Count", "X-Voice"),
)


class CrossOrigin(falcon.CORSMiddleware[Any, Any]):
    """A Falcon middleware that answers preflights, and lets pages of some origins, or of all (`*`), read answers."""

    def __init__(self, origins: str) -> None:
        named = [origin.strip() for origin in origins.split(",")]
        super().__init__(allow_origins="*" if "*" in named else named, expose_headers=EXPOSED)

    def process_response(self, req: Any, resp: Any, resource: object, req_succeeded: bool) -> None:
        """Add the headers; a cache must not give one origin's answer to another."""
        super().process_response(req, resp, resource, req_succeeded)
        if self.allow_origins != "*":
            resp.append_header("Vary", "Origin")
