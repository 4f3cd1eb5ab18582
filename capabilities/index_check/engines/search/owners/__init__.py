"""Services that tell owners about their own sites."""

from collections.abc import Mapping

from capabilities.index_check.engines.search.base.site_service import SiteService
from capabilities.index_check.engines.search.owners.bing_webmaster import BingWebmaster
from capabilities.index_check.engines.search.owners.search_console import SearchConsole
from capabilities.index_check.settings import SearchSettings


def site_services(settings: SearchSettings) -> Mapping[str, SiteService]:
    return {service.name: service(settings) for service in (SearchConsole, BingWebmaster)}
