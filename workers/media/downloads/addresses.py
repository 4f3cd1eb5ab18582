"""Addresses: which ones a download may connect to."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from pipeline.errors import NotReady

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Elsewhere listen mail servers, databases and caches, which take orders in what looks like HTTP to us.
PORTS = frozenset((80, 443))

#: By name and not by `is_global`, which calls multicast, 6to4's relays and others global (IANA's registry of
#: special-purpose addresses, and two of cloud providers).
DENIED_IPV4: Sequence[ipaddress.IPv4Network] = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT, and Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's platform
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, and Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]

#: All that is given out for the public Internet; mapped, translated, local and unique-local ones lie outside.
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
DENIED_IPV6: Sequence[ipaddress.IPv6Network] = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, and Teredo, which carries an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public Internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in DENIED_IPV4)
    # A zone ("%eth0") says which of this machine's own links is meant.
    return (
        address.scope_id is None and address in PUBLIC_IPV6 and not any(address in network for network in DENIED_IPV6)
    )


class Reach:
    """What may be connected to: public addresses on the web's ports, and on any port what an operator allows."""

    def __init__(self, allow_networks: str = "") -> None:
        """Raise NotReady for what is no list of networks."""
        self._allowed: Sequence[Network] = [
            _network(part.strip()) for part in allow_networks.split(",") if part.strip()
        ]
        # An address is judged three times in a download, and a batch's pictures come from few.
        self._judge = lru_cache(1_024)(self._judge_address)

    def takes_port(self, port: int) -> bool:
        """Return whether there can be an address with this port at all; asked before any name is looked up."""
        return port in PORTS or bool(self._allowed)

    def takes(self, host: str, port: int) -> bool:
        """Return whether an address, as text, may be connected to on a port."""
        is_allowed, is_open = self._judge(host)
        return is_allowed or (is_open and port in PORTS)

    def takes_address(self, host: str) -> bool:
        """Return whether an address, as text, may be connected to on any port at all."""
        return any(self._judge(host))

    def _judge_address(self, host: str) -> tuple[bool, bool]:
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
            f"PRESSROOM_FETCH__ALLOW_NETWORKS names {text!r}, which is no network ({error}). "
            "Write CIDRs with commas between them: 10.1.2.0/24,fd00::/8."
        ) from error
