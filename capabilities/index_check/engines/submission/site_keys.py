"""Site keys: the IndexNow key of each site, and whether the site serves it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

from pydantic import SecretStr
from yarl import URL

from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.settings import IndexNowSettings
from pipeline.downloads.images import ImageBlocked, ImageFailure, ImageTooLarge, ImageUnreachable
from pipeline.errors import NotReady
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.fetcher import Fetcher

KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
PREFIX = "PRESSROOM_SUBMISSION__INDEXNOW__"
EXAMPLE = "Write HOST=KEY, such as www.example.com=0123abcd."
#: A key has 128 bytes at most; some files have a comment or a page around it.
MAX_BYTES = 64 * 2**10
#: Longest download of a key file; other sites wait for it.
LIMIT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class SiteKey:
    """A key; its file is at the site's root."""

    key: str = field(repr=False)

    def file(self, site: SubmittedSite) -> str:
        return f"{site.origin}/{self.key}.txt"

    def remedy(self, site: SubmittedSite) -> str:
        # Without the key, which is for the operator alone.
        return (
            f"Serve a text file with the site's IndexNow key, and nothing else, at {site.origin}/KEY.txt; "
            f"to check it, the operator runs `pressroom indexnow check {site.host if site.is_secure else site.origin}`."
        )


@dataclass(frozen=True)
class SiteKeys:
    """The keys by host, and the key of all other hosts."""

    by_host: Mapping[str, SiteKey]
    common: SiteKey | None

    @classmethod
    def read(cls, settings: IndexNowSettings) -> Self:
        """Return the keys that are set. Raises NotReady."""
        common = _secret(settings.key)
        entries = [entry.strip() for entry in _secret(settings.keys).split(",") if entry.strip()]
        return cls(dict(map(_read, entries)), SiteKey(_key(common, f"{PREFIX}KEY")) if common else None)

    def of(self, site: SubmittedSite) -> SiteKey | None:
        return self.by_host.get(site.host, self.common)


class KeyFiles:
    """Downloads key files, guarded. Thread-safe."""

    def __init__(self, settings: FetchSettings) -> None:
        seconds = min(LIMIT_SECONDS, settings.limit_seconds)
        self._fetcher = Fetcher(settings.model_copy(update={"max_bytes": MAX_BYTES, "limit_seconds": seconds}))

    def close(self) -> None:
        self._fetcher.close()

    def fault(self, key: SiteKey, site: SubmittedSite) -> SubmissionVerdict | None:
        """Return the fault of a site's key file with its remedy, or None."""
        try:
            found = self._fetcher.start(key.file(site)).result()
        except ImageFailure as error:
            cause = f"the site does not serve its IndexNow key: {_cause_of(error)}. {key.remedy(site)}"
            if isinstance(error, ImageUnreachable) and error.is_passing:
                return SubmissionVerdict("key_unreachable", cause, wait=error.retry_after or timedelta())
            return SubmissionVerdict("key_invalid", cause)
        lines = found.body.decode("utf-8-sig", "replace").splitlines()
        if key.key in (line.strip() for line in lines):
            return None
        cause = f"the file of the site's IndexNow key has another text. {key.remedy(site)}"
        return SubmissionVerdict("key_invalid", cause)


def _read(entry: str) -> tuple[str, SiteKey]:
    host, _, key = entry.partition("=")
    where = f"{PREFIX}KEYS, {host.strip()[:80]!a}"
    try:
        named = URL(f"https://{host.strip()}")
    except ValueError as error:
        raise NotReady(f"{where}: this is not a host. {EXAMPLE}") from error
    if named.path != "/" or not named.host or named.raw_query_string:
        raise NotReady(f"{where}: this is not a host. {EXAMPLE}")
    return named.host_port_subcomponent or "", SiteKey(_key(key.strip(), where))


def _key(key: str, where: str) -> str:
    if KEY.fullmatch(key) is None:
        # The key itself stays out of messages.
        raise NotReady(f"{where}: a key has 8 to 128 of a-z, A-Z, 0-9 and -; `pressroom indexnow key` makes one.")
    return key


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value().strip() if value else ""


def _cause_of(error: ImageFailure) -> str:
    if isinstance(error, ImageUnreachable) and error.answered is not None:
        return f"the site answers with HTTP {error.answered}"
    if isinstance(error, ImageBlocked):
        return "its address is not a public one"
    return "the file is too large" if isinstance(error, ImageTooLarge) else "the site could not be reached"
