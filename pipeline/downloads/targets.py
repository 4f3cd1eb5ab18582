"""Targets: which URLs may be requested, and how messages show them."""

import ipaddress
import re
from functools import cache
from urllib.parse import quote, urljoin

from publicsuffixlist import PublicSuffixList
from yarl import URL

from pipeline.downloads.addresses import PORTS, Reach
from pipeline.downloads.urls import fault_of, host_key

REDIRECTS = frozenset((301, 302, 303, 307, 308))
#: Characters of a Location that stay as they are. Others, such as spaces and raw UTF-8, are quoted, as browsers do.
KEPT = "".join(map(chr, range(0x21, 0x7F)))
#: Characters of a URL that a message shows.
MAX_SHOWN = 120
USERINFO = re.compile(r"//[^/?#]*@", re.DOTALL)
#: The last label of a host that resolvers take for an IPv4 address: 0x7f.1 is 127.0.0.1.
NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


class Refused(Exception):
    """The URL is not requested; `is_forbidden`: it is valid, but its address or port is not allowed."""

    def __init__(self, why: str, *, is_forbidden: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.is_forbidden = is_forbidden


def read_target(text: str, reach: Reach) -> URL:
    """Return the URL to request, without its fragment. Raises Refused.

    Checks the URL as yarl has parsed it, since aiohttp connects to that: a URL that two parsers read differently could
    pass."""
    text = text.strip(" \t\r\n").replace(" ", "%20")
    if fault := fault_of(text):
        raise Refused(fault)
    try:
        url = URL(text).with_fragment(None)
        host, port = url.raw_host or "", url.port
    except ValueError as error:
        raise Refused(f"it can't be read ({error})") from error
    if url.scheme not in ("http", "https") or url.raw_user is not None or port is None or host_key(host) is None:
        raise Refused("it can't be read in one way only")
    if not reach.takes_port(port):
        raise _of_port(port)
    _check_address(host, port, reach)
    return url


def location_of(url: str, location: str) -> str:
    """Return where a redirect leads, as a whole URL. Raises ValueError."""
    return urljoin(url, quote(location, safe=KEPT, errors="surrogateescape"))


def site_of(host: str) -> str:
    """Return the registered domain of a host, by the public suffix list: hosts of one domain have one owner.

    Under a shared domain such as github.io it is the user's own name. An address, or a suffix itself, is unchanged."""
    name = host.rstrip(".").lower()
    if ":" in host or NUMBER.fullmatch(name.rpartition(".")[2]):
        return host
    return _suffixes().privatesuffix(name) or name


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def shown(text: str) -> str:
    """Return a URL for messages: short, printable, without its user name, password and query."""
    bare, mark, _ = re.sub(USERINFO, "//…@", text).partition("?")
    short = bare if len(bare) <= MAX_SHOWN else f"{bare[:MAX_SHOWN]}…"
    return ascii(short.replace("…", "..."))[1:-1] + ("?..." if mark else "")


def _check_address(host: str, port: int, reach: Reach) -> None:
    """Check a host that is an address, or that always means this machine. Raises Refused."""
    labels = host.rstrip(".").split(".")
    if labels[-1] == "localhost":
        host = "127.0.0.1"  # RFC 6761, 6.3
    elif ":" not in host and not NUMBER.fullmatch(labels[-1]):
        return  # a name, whose addresses are checked after it was looked up
    if reach.takes(host, port):
        return
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise Refused("its host is a number, but no address as they are written today") from None
    if reach.takes_address(host):
        raise _of_port(port)
    raise Refused("its address is not a public one", is_forbidden=True)


def _of_port(port: int) -> Refused:
    return Refused(f"its port is {port}; only {' and '.join(map(str, sorted(PORTS)))} are asked", is_forbidden=True)
