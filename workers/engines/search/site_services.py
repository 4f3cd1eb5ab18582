"""Site services: those that tell owners of their own sites, by name."""

from collections.abc import Mapping

from pipeline.search_settings import SearchSettings
from workers.engines.search.base.site_service import SiteService
from workers.engines.search.bing_webmaster import BingWebmaster
from workers.engines.search.search_console import SearchConsole

SERVICES: tuple[type[SiteService], ...] = (SearchConsole, BingWebmaster)


def site_services(settings: SearchSettings) -> Mapping[str, SiteService]:
    """Return all services."""
    return {service.name: service(settings) for service in SERVICES}
