"""URLs: which ones may be checked, and when two of them stand for the same page."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes, urlsplit, urlunsplit

import idna

#: Longest URL that is taken.
MAX_CHARACTERS = 2_048
#: The beginning of a page's URL, as a pattern of JSON Schema.
SCHEME = r"^[Hh][Tt][Tt][Pp][Ss]?://"
#: Longest host, with its last dot (RFC 1035, 2.3.4).
MAX_HOST = 254
DEFAULT_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?")
#: Numbers that begin with a 6 may be too high.
PORT = r"(?::(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
#: Nearly all URLs are so plain, and need no closer look, which takes twenty times as long.
PLAIN = re.compile(rf"https?://(?=[^/?#]{{1,250}}(?:[/?#]|$)){HOST.pattern}{PORT}(?:[/?#][!-\[\]-~]*)?")
#: RFC 3986, 2.3: these mean the same, escaped or not.
UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
#: Also unescaped in a path or query; everything else is written as %XX.
KEPT = frozenset(b"!$&'()*+,;=:@/?")
ESCAPED = re.compile(rb"%[0-9A-Fa-f]{2}")
UNFIT = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f\u2060\u3000\ufeff\ud800-\udfff\\]")
#: Parameters that say where a visitor came from, never which page it is.
TRACKING = frozenset(("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "yclid", "srsltid", "_gl"))
TRACKING_PREFIXES = ("utm_", "mc_")
SESSION = re.compile(r";jsessionid=[^/?;]*", re.IGNORECASE)


def fault_of(url: str) -> str | None:
    """Return why a URL can't be checked; None: it can."""
    if len(url) > MAX_CHARACTERS:
        return f"it has {len(url):,} characters; at most {MAX_CHARACTERS:,} are taken"
    if PLAIN.fullmatch(url):
        return None
    if UNFIT.search(url):
        return "it has a space, a control character, a backslash or an invisible character; write it as %XX"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"it can't be read ({error})"
    if parts.scheme not in DEFAULT_PORTS:
        return "it does not begin with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "it has a user name or a password in it"
    if not parts.hostname:
        return "it has no host"
    if port == 0 or host_key(parts.hostname) is None:
        return "its host or port can't exist"
    return None


def host_key(host: str) -> str | None:
    """Return a host in lower case ASCII, without its last dot; None for one that can't exist."""
    if host.startswith("["):
        return host.lower()
    if len(host) > MAX_HOST:  # before a thousand characters are encoded, for nothing
        return None
    host = (host if host.isascii() else _in_ascii(host)).lower()
    if ":" in host:  # an IPv6 address, whose brackets urlsplit took away
        return f"[{host}]"
    return host.rstrip(".") if len(host) <= MAX_HOST and HOST.fullmatch(host) else None


@lru_cache(maxsize=1_000)  # a list of a site's pages has one host, which takes ten times as long as all the rest
def _in_ascii(host: str) -> str:
    """Return a host as name servers have it; nothing for one that can't exist."""
    try:
        return idna.encode(host, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return ""


def match_key(url: str) -> str | None:
    """Return a key that is the same for all ways to write a page's URL; None if it is not the URL of a page."""
    try:
        parts = urlsplit(url if "//" in url[:9] else f"//{url}")
        port = parts.port
    except ValueError:
        return None
    host = host_key(parts.hostname or "")
    if not host or parts.scheme not in ("", *DEFAULT_PORTS):
        return None
    host = host.removeprefix("www.")
    default = DEFAULT_PORTS.get(parts.scheme)
    place = (
        host if port in (None, default) or (default is None and port in DEFAULT_PORTS.values()) else f"{host}:{port}"
    )
    path = "".join(f"/{segment}" for segment in _segments(_escape(SESSION.sub("", parts.path))))
    query = "&".join(sorted(_kept(_escape(part) for part in parts.query.split("&"))))
    bang = f"#{parts.fragment}" if parts.fragment.startswith("!") else ""
    return place + path + (f"?{query}" if query else "") + bang


def listed_form(url: str) -> str:
    """Return a page's URL as a search engine may list it: without what never tells one page from another.

    Engines look for what they are asked for: with a visitor's parameters or a default port they find nothing, and that
    would be kept as the answer for whoever writes the page's URL well."""
    parts = urlsplit(url)
    host = host_key(parts.hostname or "") or parts.hostname or ""
    place = host if parts.port in (None, DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{parts.port}"
    query = "&".join(_kept(parts.query.split("&")))
    fragment = parts.fragment if parts.fragment.startswith("!") else ""
    path = _listed_path(SESSION.sub("", parts.path))
    listed = urlunsplit(parts._replace(netloc=place, path=path, query=query, fragment=fragment))
    # To an engine these are operators: the end of a phrase, and "or".
    return listed.replace('"', "%22").replace("|", "%7C")


def _segments(path: str) -> list[str]:
    """Return the segments of a path, without those that are empty or mean where one is."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    return kept


def _listed_path(path: str) -> str:
    """Return a path without dots (RFC 3986, 5.2.4) and doubled slashes, but for those of a URL that it holds.

    Sites serve and link a page with one slash where somebody has put two by mistake; an archive's copy of a page is
    listed with both."""
    kept: list[str] = []
    for segment in path.removesuffix("/").split("/"):
        last = kept[-1] if kept else ""
        if segment == "..":
            # An empty one goes with what it stands behind, as where pages are matched.
            del kept[-1 if last else -2 :]
        elif segment != "." and (segment or last.endswith(":")):
            kept.append(segment)
    return "".join(f"/{segment}" for segment in kept) + "/" * path.endswith(("/", "/.", "/.."))


def _kept(parameters: Iterable[str]) -> Iterator[str]:
    """Yield the parameters that tell one page from another."""
    for parameter in parameters:
        name = parameter.partition("=")[0].lower()
        if parameter and name not in TRACKING and not name.startswith(TRACKING_PREFIXES):
            yield parameter


def _escape(text: str) -> str:
    """Return a text with what must be escaped as %XX in upper case, and nothing else; `%2F` is not `/`."""

    def one(found: re.Match[bytes]) -> bytes:
        (byte,) = unquote_to_bytes(found[0])
        return bytes((byte,)) if byte in UNRESERVED else found[0].upper()

    raw = text.encode("utf-8", "surrogatepass")
    written = ESCAPED.sub(one, raw)
    # A percent sign that begins no escape stands for itself, and stays, as browsers leave it.
    return quote(written, safe=bytes(KEPT) + b"%")
