"""Addresses: IPv4 is IPv4, also where a socket of both protocols shows it as IPv6."""

import pytest

from api.http.address import is_uncounted, read_networks, subscriber_of

TRUSTED = read_networks("10.0.0.0/8,fd00::/8")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3", "fd00::1", ""]
)
def test_connections_of_proxies_and_of_this_machine_are_not_counted(address: str) -> None:
    assert is_uncounted(address, TRUSTED)


@pytest.mark.parametrize("address", ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"])
def test_connections_of_clients_are_counted(address: str) -> None:
    assert not is_uncounted(address, TRUSTED)


@pytest.mark.parametrize(
    ("address", "whose"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("no address", "no address"),
    ],
)
def test_an_address_counts_for_its_subscriber(address: str, whose: str) -> None:
    assert subscriber_of(address) == whose
