"""Site services: those that tell owners of their own sites, by name."""

from collections.abc import Mapping

from capabilities.index_check.engines.search.base.site_service import SiteService
from capabilities.index_check.engines.search.owners.bing_webmaster import BingWebmaster
from capabilities.index_check.engines.search.owners.search_console import SearchConsole
from capabilities.index_check.settings import SearchSettings

SERVICES: tuple[type[SiteService], ...] = (SearchConsole, BingWebmaster)


def site_services(settings: SearchSettings) -> Mapping[str, SiteService]:
    """Return all services."""
    return {service.name: service(settings) for service in SERVICES}
