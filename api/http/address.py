"""Address: the client of a request and the host it was sent to, also behind trusted proxies."""

import ipaddress
import re
from collections.abc import Sequence

import falcon.asgi

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


#: Valid Host headers, which go into URLs: nothing that ends a host or begins a path.
HOST = re.compile(r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
#: Bits of an IPv6 address that identify its subscriber (RFC 6177).
SUBSCRIBER_BITS = 64


def read_networks(text: str) -> list[Network]:
    """Return the networks of a list of CIDRs, separated by commas."""
    return [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


def client_address(req: falcon.asgi.Request, trusted: Sequence[Network]) -> str:
    """Return the client's address: the last one in X-Forwarded-For that is not a trusted proxy's.

    A unix socket has no address; the operator's proxy connects to it."""
    peer = _peer(req)
    if peer and not _is_trusted(peer, trusted):
        return peer
    forwarded = [part.strip() for part in (req.get_header("X-Forwarded-For") or "").split(",") if part.strip()]
    if not trusted:
        return peer
    for address in reversed(forwarded):
        if not _is_trusted(address, trusted):
            return address
    return peer


def counted_address(req: falcon.asgi.Request, trusted: Sequence[Network]) -> str:
    """Return the address under which a client's attempts are counted: for IPv6, its whole network."""
    return subscriber_of(client_address(req, trusted))


def subscriber_of(address: str) -> str:
    """Return an address, or its subscriber's network for IPv6."""
    try:
        parsed = _parse(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed), SUBSCRIBER_BITS), strict=False))


def is_uncounted(address: str, trusted: Sequence[Network]) -> bool:
    """Return whether an address may stand for many clients: a proxy's, or this machine's."""
    try:
        return _parse(address).is_loopback or _is_trusted(address, trusted)
    except ValueError:  # a unix socket has none
        return True


def base_url(req: falcon.asgi.Request, trusted: Sequence[Network]) -> str:
    """Return scheme and host of a request, from its own headers or a trusted proxy's."""
    scheme, hosts = req.scheme, [req.get_header("Host") or ""]
    peer = _peer(req)
    if trusted and (not peer or _is_trusted(peer, trusted)):
        # The trusted proxy wrote the last of several values.
        proto = (req.get_header("X-Forwarded-Proto") or "").rpartition(",")[2].strip().lower()
        scheme = proto if proto in {"http", "https"} else scheme
        hosts.insert(0, (req.get_header("X-Forwarded-Host") or "").rpartition(",")[2].strip())
    name, port = req.scope.get("server") or ("localhost", None)
    own = f"{name}:{port}" if port else str(name)
    return f"{scheme}://{next(filter(HOST.fullmatch, hosts), own)}"


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address, with IPv4-mapped IPv6 as IPv4. Raises ValueError."""
    parsed = ipaddress.ip_address(address)
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, ipaddress.IPv6Address) else parsed


def _peer(req: falcon.asgi.Request) -> str:
    """Return the peer's address; empty for a unix socket."""
    peer, *_ = req.scope.get("client") or ("",)
    return str(peer or "")


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    try:
        parsed = _parse(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)
