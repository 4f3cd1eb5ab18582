"""Address: who sends a request, also behind proxies that are trusted to say so."""

import ipaddress

import falcon.asgi

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def read_networks(text: str) -> list[Network]:
    """Return the networks of a list of CIDRs, separated by commas."""
    return [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]


def client_address(req: falcon.asgi.Request, trusted: list[Network]) -> str:
    """Return the address of the client: the last one in X-Forwarded-For that no trusted proxy wrote of itself.

    A unix socket has no address; whoever connects to it is a proxy of the operator's.
    """
    peer = (req.scope.get("client") or ("", 0))[0]
    if peer and not _is_trusted(peer, trusted):
        return str(peer)
    forwarded = [part.strip() for part in (req.get_header("X-Forwarded-For") or "").split(",") if part.strip()]
    if not trusted:
        return str(peer)
    for address in reversed(forwarded):
        if not _is_trusted(address, trusted):
            return address
    return str(peer)


def _is_trusted(address: str, trusted: list[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)
