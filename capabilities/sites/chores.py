"""Chores: what the sweep does for sites."""

from collections.abc import Callable, Mapping

from pipeline.database import Database
from pipeline.settings import Settings


def chores(settings: Settings) -> Mapping[str, Callable[[Database], int]]:
    """Return the chores by name (pipeline/kind.py, chores)."""
    from capabilities.sites.working.feeding import SiteFeeds  # obstore, and kinds of other capabilities
    from capabilities.sites.working.site_runs import SiteRuns
    from capabilities.sites.working.watching import SiteWatch

    return {
        "site_runs": SiteRuns(settings).work,
        "site_watch": SiteWatch(settings).work,
        "site_feeds": SiteFeeds(settings).work,
    }
