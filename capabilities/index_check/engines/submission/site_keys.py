"""Site keys: the IndexNow key of each site, and where its file is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from pydantic import SecretStr
from yarl import URL

from capabilities.index_check.engines.submission import SubmittedSite
from capabilities.index_check.settings import IndexNowSettings
from pipeline.errors import NotReady

#: What a key may be (indexnow.org, Documentation).
KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
PREFIX = "PRESSROOM_SUBMISSION__INDEXNOW__"


@dataclass(frozen=True, slots=True)
class SiteKey:
    """A key and, where it is not at the site's root, the address of its file."""

    key: str = field(repr=False)
    location: str | None = None

    def file(self, site: SubmittedSite) -> str:
        """Return the address of the key's file at a site."""
        return self.location or f"{site.origin}/{self.key}.txt"

    def shown(self, site: SubmittedSite) -> str:
        """Return the same for those who need not know the key."""
        return self.location or f"{site.origin}/KEY.txt"

    def covers(self, url: str) -> bool:
        """Return whether the key counts for a URL: a file in a folder counts for what is in that folder."""
        if self.location is None:
            return True
        return URL(url).raw_path.startswith(URL(self.location).raw_path.rpartition("/")[0] + "/")


@dataclass(frozen=True)
class SiteKeys:
    """The keys by host, and the one for all others."""

    by_host: Mapping[str, SiteKey]
    common: SiteKey | None

    @classmethod
    def read(cls, settings: IndexNowSettings) -> Self:
        """Return the keys that are set. Raises NotReady."""
        common = _secret(settings.key)
        entries = [entry.strip() for entry in _secret(settings.keys).split(",") if entry.strip()]
        return cls(dict(map(_read, entries)), SiteKey(_key(common, f"{PREFIX}KEY")) if common else None)

    def of(self, site: SubmittedSite) -> SiteKey | None:
        """Return the key of a site; None where there is none."""
        return self.by_host.get(site.host, self.common)


def _read(entry: str) -> tuple[str, SiteKey]:
    host, _, rest = entry.partition("=")
    key, _, location = rest.partition("=")
    where = f"{PREFIX}KEYS, {host.strip()[:80]!a}"
    try:
        named = URL(f"https://{host.strip()}")
        place = URL(location.strip()) if location.strip() else None
    except ValueError as error:
        raise NotReady(f"{where}: it can't be read. Write HOST=KEY, such as www.example.com=0123abcd.") from error
    if named.path != "/" or not named.host or named.raw_query_string:
        raise NotReady(f"{where}: it is no host. Write HOST=KEY, such as www.example.com=0123abcd.")
    name = named.host_port_subcomponent or ""
    if place is not None and (place.scheme not in ("http", "https") or place.host_port_subcomponent != name):
        raise NotReady(f"{where}: the key's file must be at an address of that host, http or https.")
    return name, SiteKey(_key(key.strip(), where), str(place) if place is not None else None)


def _key(key: str, where: str) -> str:
    if KEY.fullmatch(key) is None:
        # The key itself stays out of messages.
        raise NotReady(f"{where}: a key has 8 to 128 of a-z, A-Z, 0-9 and -; `pressroom indexnow key` makes one.")
    return key


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value().strip() if value else ""
