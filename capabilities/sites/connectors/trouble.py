"""Trouble: why a site can't be used, in one line."""

from datetime import timedelta

from pipeline.errors import InvalidRequest


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
        super().__init__(message, code=code, retry_after=after)
        self.may_pass = passes
        #: True if it concerns this object alone, so that others may still be written.
        self.of_target = of_target
