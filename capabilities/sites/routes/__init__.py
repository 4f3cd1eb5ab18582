"""Routes of podcasts: the feed, the files of its episodes, and the player for web pages. None of them takes a key."""

from collections.abc import Callable, Mapping

from api.services.services import Services
from capabilities.sites.routes.podcast import FEEDS, EpisodeFile, FeedDocument, Player

RESOURCES: Mapping[str, Callable[[Services], object]] = {
    f"{FEEDS}/{{token}}.xml": FeedDocument,
    "/episodes/{episode_id}/{name}": EpisodeFile,
    "/player.js": Player,
}
