"""Address: which client sends a request, and to which host, also behind trusted proxies."""

import ipaddress
import re
from collections.abc import Sequence

import falcon.asgi

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


#: What may stand in a Host header, and so in a URL that we make; nothing that ends a host or begins a path.
HOST = re.compile(r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
#: Bits of an IPv6 address that say whose it is: a connection is given all addresses below them (RFC 6177).
SUBSCRIBER_BITS = 64


def read_networks(text: str) -> list[Network]:
    """Return the networks of a list of CIDRs, separated by commas."""
    return [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


def client_address(req: falcon.asgi.Request, trusted: Sequence[Network]) -> str:
    """Return the address of the client: the last one in X-Forwarded-For that is no trusted proxy's.

    A unix socket has no address: what connects to it is the operator's proxy.
    """
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
    """Return what attempts of a client are counted under: its address; of IPv6 its network, all of which is its own."""
    return subscriber_of(client_address(req, trusted))


def subscriber_of(address: str) -> str:
    """Return whose an address is: itself; of IPv6 its network, all of which is its own."""
    try:
        parsed = _parse(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed), SUBSCRIBER_BITS), strict=False))


def is_uncounted(address: str, trusted: Sequence[Network]) -> bool:
    """Return whether connections from an address may stand for many clients: a proxy's, or one of this machine."""
    try:
        return _parse(address).is_loopback or _is_trusted(address, trusted)
    except ValueError:  # a unix socket has none
        return True


def base_url(req: falcon.asgi.Request, trusted: Sequence[Network]) -> str:
    """Return scheme and host that a request was sent to, by its own headers or those of a trusted proxy."""
    scheme, hosts = req.scheme, [req.get_header("Host") or ""]
    peer = _peer(req)
    if trusted and (not peer or _is_trusted(peer, trusted)):
        # Of several, the last was written by the proxy that is trusted.
        proto = (req.get_header("X-Forwarded-Proto") or "").rpartition(",")[2].strip().lower()
        scheme = proto if proto in {"http", "https"} else scheme
        hosts.insert(0, (req.get_header("X-Forwarded-Host") or "").rpartition(",")[2].strip())
    name, port = req.scope.get("server") or ("localhost", None)
    own = f"{name}:{port}" if port else str(name)
    return f"{scheme}://{next(filter(HOST.fullmatch, hosts), own)}"


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; one of IPv4 as such, also where a socket of both protocols has it. Raises ValueError."""
    parsed = ipaddress.ip_address(address)
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, ipaddress.IPv6Address) else parsed


def _peer(req: falcon.asgi.Request) -> str:
    """Return the address at the other end of the connection; empty for a unix socket."""
    peer, *_ = req.scope.get("client") or ("",)
    return str(peer or "")


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    try:
        parsed = _parse(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)
