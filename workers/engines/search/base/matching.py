"""Match: whether a row of a results page is the page that was asked for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pipeline.urls import host_of, match_key, path_of

Relation = Literal["equal", "variant", "deeper"]

#: Most rows that are kept as near matches.
MAX_NEAR = 5
#: Longest row that is looked at; what is submitted is half as long (pipeline/urls.py).
MAX_ROW_CHARACTERS = 4_096
#: What no address has, and no row of a database takes.
UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
MOBILE_PREFIXES = ("m.", "mobile.", "amp.")
AMP_CACHE = ".cdn.ampproject.org"


@dataclass(frozen=True, slots=True)
class Match:
    """The row that is the page, if there is one, and those that are nearly it."""

    url: str | None = None
    near: tuple[tuple[str, Relation], ...] = ()
    has_host: bool = False  # some row is on the page's host


def match(rows: Iterable[str], url: str, *, accept_variants: bool = False) -> Match:
    """Look for a page among rows."""
    wanted = match_key(url)
    if wanted is None:
        return Match()
    near: list[tuple[str, Relation]] = []
    has_host = False
    found = None
    for row in rows:
        if len(row) > MAX_ROW_CHARACTERS or UNFIT.search(row) or (key := match_key(row)) is None:
            continue
        has_host = has_host or host_of(key) == host_of(wanted)
        relation = relation_of(key, wanted)
        if relation == "equal" or (relation == "variant" and accept_variants):
            found = found or row
        elif relation is not None:
            near.append((row, relation))
    return Match(found, tuple(near[:MAX_NEAR]), has_host)


def relation_of(key: str, wanted: str) -> Relation | None:
    """Return what one match key is to another."""
    if key == wanted:
        return "equal"
    if _plain(key) == _plain(wanted):
        return "variant"
    if host_of(key) == host_of(wanted) and path_of(key).startswith(path_of(wanted) + "/"):
        return "deeper"
    return None


def _plain(key: str) -> str:
    """Return a match key without what makes a mobile, AMP or differently written copy of the same page."""
    host, path = host_of(key), path_of(key).lower()
    if host.endswith(AMP_CACHE):
        # /c/s/example.com/page: content, over TLS, of that host.
        parts = [part for part in path.split("/") if part]
        while parts and parts[0] in {"c", "v", "s"}:
            parts.pop(0)
        host, path = (parts[0], "".join(f"/{part}" for part in parts[1:])) if parts else (host, path)
    for prefix in MOBILE_PREFIXES:
        host = host.removeprefix(prefix)
    query = key.partition("?")[2].partition("#")[0]
    kept = "&".join(part for part in query.split("&") if part and part not in {"amp", "amp=1"})
    return f"{host}{path.removesuffix('/amp')}?{kept}"
