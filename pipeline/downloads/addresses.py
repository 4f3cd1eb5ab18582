"""Addresses: which ones a download may connect to."""

import ipaddress
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from pipeline.errors import NotReady

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: The web's ports. On others, mail servers, databases and caches listen, which may take an HTTP request for commands.
PORTS = frozenset((80, 443))

#: The IPv6 addresses of the public Internet; mapped, translated, local and unique-local ones are not among them.
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")

#: Networks that are not public.
DENIED: Sequence[Network] = [
    ipaddress.ip_network(network)
    for network in tomllib.loads(Path(__file__).with_name("denied_networks.toml").read_text("utf-8"))["networks"]
]


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public Internet."""
    # A zone ("%eth0") names one of this machine's own network links.
    if address.version == 6 and (address.scope_id is not None or address not in PUBLIC_IPV6):
        return False
    return not any(address in network for network in DENIED)


class Reach:
    """Allows connections to public addresses on the web's ports, and to allowed networks on any port."""

    def __init__(self, allow_networks: str = "") -> None:
        """Raise NotReady when it is not a list of networks."""
        self._allowed: Sequence[Network] = [
            _network(part.strip()) for part in allow_networks.split(",") if part.strip()
        ]
        # An address is checked three times in a download, and the pictures of a batch are on few servers.
        self._check = lru_cache(1_024)(self._check_uncached)

    def takes_port(self, port: int) -> bool:
        """Return whether any address may be connected to on a port; checked before the name is looked up."""
        return port in PORTS or bool(self._allowed)

    def takes(self, host: str, port: int) -> bool:
        """Return whether an address, as text, may be connected to on a port."""
        is_allowed, is_open = self._check(host)
        return is_allowed or (is_open and port in PORTS)

    def takes_address(self, host: str) -> bool:
        """Return whether an address, as text, may be connected to on any port at all."""
        return any(self._check(host))

    def _check_uncached(self, host: str) -> tuple[bool, bool]:
        """Return whether an address is in an allowed network, and whether it is public."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False, False
        return any(address in network for network in self._allowed), is_public(address)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise NotReady(
            f"PRESSROOM_FETCH__ALLOW_NETWORKS names {text!r}, which is not a network ({error}). "
            "Write CIDRs with commas between them: 10.1.2.0/24,fd00::/8."
        ) from error
