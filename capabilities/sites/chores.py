"""Chores: what the sweep does for sites."""

from collections.abc import Callable, Mapping

from pipeline.database import Database
from pipeline.settings import Settings

#: The steps of a run that read its site, and those that write to it.
READING, WRITING = ("finding", "proposing"), ("writing", "undoing")


def chores(settings: Settings) -> Mapping[str, Callable[[Database], int]]:
    """Return the chores by name (pipeline/kind.py, chores)."""
    from capabilities.sites.working.feeding import SiteFeeds  # obstore, and kinds of other capabilities
    from capabilities.sites.working.site_runs import SiteRuns
    from capabilities.sites.working.watching import SiteWatch

    return {
        # A large site takes half an hour to be read. Two may be, and what others have accepted is written meanwhile.
        "site_reading": SiteRuns(settings, READING).work,
        "site_reading_2": SiteRuns(settings, READING).work,
        "site_writing": SiteRuns(settings, WRITING).work,
        "site_watch": SiteWatch(settings).work,
        "site_feeds": SiteFeeds(settings).work,
    }
