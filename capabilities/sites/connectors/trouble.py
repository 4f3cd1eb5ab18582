"""Trouble: why a site can't be used, in one line."""

import re
from datetime import timedelta

from pipeline.errors import InvalidRequest

#: Characters that a site may put into its messages, and that no line and no row can hold.
UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
#: Parts of a list that are read: a site may say that there are any number of them.
MOST_PAGES = 5_000


class SiteTrouble(InvalidRequest):
    """A site can't be used now. `passes`: the same may work later; else somebody has to do what the message says."""

    code = "site_trouble"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        passes: bool = False,
        of_target: bool = False,
        after: timedelta | None = None,
    ) -> None:
        super().__init__(UNSHOWN.sub(" ", message), code=code, retry_after=after)
        self.may_pass = passes
        #: True if it concerns this object alone, so that others may still be written.
        self.of_target = of_target


def too_many(things: str, most: int) -> SiteTrouble:
    """Return the trouble of a list that does not end."""
    return SiteTrouble(f"The site lists more than {most:,} {things}.", code="site_too_large")
