"""Routes of podcasts, and the address that watched sites call. None of them takes a key."""

from collections.abc import Callable, Mapping
from uuid import UUID

import falcon
import falcon.asgi

from api.services.resource import Resource
from api.services.services import Services
from capabilities.sites.routes.podcast import FEEDS, EpisodeFile, FeedDocument, Player
from capabilities.sites.sites import hurry


class Published(Resource):
    """POST /sites/{site_id}/published.

    The call is only a wake-up: its body isn't read, and posts are read from the site itself."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str) -> None:
        """Have the site looked at; 410 if it isn't watched any more, so that it stops calling."""
        try:
            is_watched = await self._services.database.run(hurry(UUID(site_id)))
        except ValueError:
            is_watched = False
        resp.status = falcon.HTTP_204 if is_watched else falcon.HTTP_410


RESOURCES: Mapping[str, Callable[[Services], object]] = {
    f"{FEEDS}/{{token}}.xml": FeedDocument,
    "/episodes/{episode_id}/{name}": EpisodeFile,
    "/player.js": Player,
    "/sites/{site_id}/published": Published,
}
