"""Connectors: the systems that sites run on, a module each. Add a line to CONNECTORS for a new one.

tests/capabilities/sites/connector_suite.py has what each of them must pass."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from capabilities.sites.connectors.connector import Connector, SiteFacts
from capabilities.sites.connectors.feed import Feed
from capabilities.sites.connectors.ghost import Ghost
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.connectors.wordpress import WordPress
from pipeline.downloads.targets import shown
from pipeline.log import get_logger
from pipeline.settings.fields import FetchSettings

log = get_logger(__name__)

#: Characters of an error that are shown.
MAX_SAID = 300
#: Errors of reading JSON that is not as the site's system promises it.
UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
CONNECTORS: Mapping[str, Any] = {"wordpress": WordPress, "ghost": Ghost, "feed": Feed}


@asynccontextmanager
async def open_connector(
    name: str, url: str, credentials: Mapping[str, str], facts: SiteFacts, settings: FetchSettings
) -> AsyncIterator[Connector]:
    """Give the connector of a site while the block lasts. Raises NotReady, SiteTrouble."""
    connector = CONNECTORS[name](url, credentials, facts, settings)
    async with connector.exchange:
        try:
            yield connector
        except UNREADABLE as error:
            log.warning("site unreadable", site=shown(url), exc_info=True)  # it may be a mistake of ours
            said = f"{shown(url)} answers with what Pressroom can't work with ({type(error).__name__}: {error})"
            raise SiteTrouble(f"{said[:MAX_SAID]}.", code="site_unreadable") from error
