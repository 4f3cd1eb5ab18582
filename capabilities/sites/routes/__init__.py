"""Routes of podcasts, and the address that watched sites call. None of them takes a key."""

from collections.abc import Callable, Mapping

from api.services.services import Services
from capabilities.sites.routes.podcast import FEEDS, EpisodeFile, FeedDocument, Player
from capabilities.sites.routes.published import Published

RESOURCES: Mapping[str, Callable[[Services], object]] = {
    f"{FEEDS}/{{token}}.xml": FeedDocument,
    "/episodes/{episode_id}/{name}": EpisodeFile,
    "/player.js": Player,
    "/sites/{site_id}/published": Published,
}
