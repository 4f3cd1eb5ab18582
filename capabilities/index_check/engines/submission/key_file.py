"""Key file: whether a site serves its IndexNow key, asked before URLs are sent; a guarded download."""

from datetime import timedelta

from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.site_keys import SiteKey
from pipeline.downloads.images import ImageBlocked, ImageFailure, ImageTooLarge, ImageUnreachable
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.fetcher import Fetched, Fetcher

#: A file of one key has 128 bytes at most; some have a comment or a page around it.
MAX_BYTES = 64 * 2**10
#: Longest download: others wait for it.
LIMIT_SECONDS = 15.0


class KeyFiles:
    """Downloads key files. Safe for many threads."""

    def __init__(self, settings: FetchSettings) -> None:
        seconds = min(LIMIT_SECONDS, settings.limit_seconds)
        self._fetcher = Fetcher(settings.model_copy(update={"max_bytes": MAX_BYTES, "limit_seconds": seconds}))

    def close(self) -> None:
        """End all downloads."""
        self._fetcher.close()

    def fault(self, key: SiteKey, site: SubmittedSite) -> SubmissionVerdict | None:
        """Return what is wrong with a site's key file, and what to put where; None: nothing."""
        try:
            found = self._fetcher.start(key.file(site)).result()
        except ImageFailure as error:
            cause = f"the site does not serve its IndexNow key: {_cause_of(error)}. {remedy(key, site)}"
            if isinstance(error, ImageUnreachable) and error.is_passing:
                return SubmissionVerdict("key_unreachable", cause, wait=error.retry_after or timedelta())
            return SubmissionVerdict("key_invalid", cause)
        if holds(found, key):
            return None
        return SubmissionVerdict(
            "key_invalid", f"the file of the site's IndexNow key holds another text. {remedy(key, site)}"
        )


def holds(found: Fetched, key: SiteKey) -> bool:
    """Return whether a file holds the key, in a line of its own."""
    text = found.body.decode("utf-8-sig", "replace")
    return key.key in (line.strip() for line in text.splitlines())


def remedy(key: SiteKey, site: SubmittedSite) -> str:
    """Return what to put where; the key itself is for the operator alone."""
    return (
        f"Serve a text file with the site's IndexNow key, and nothing else, at {key.shown(site)}; "
        f"the operator sees it by `pressroom indexnow check {site.host if site.is_secure else site.origin}`."
    )


def _cause_of(error: ImageFailure) -> str:
    if isinstance(error, ImageUnreachable) and error.answered is not None:
        return f"the site answers with HTTP {error.answered}"
    if isinstance(error, ImageBlocked):
        return "its address is not a public one"
    return "the file is too large" if isinstance(error, ImageTooLarge) else "the site could not be reached"
