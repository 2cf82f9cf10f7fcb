"""Choice of the addresses that a chat is on."""

import ipaddress

import pytest

from sync.errors import LocalError
from sync.net.discovery.interfaces import LEFT_OUT, choose


def test_a_named_address_is_chosen_alone() -> None:
    [chosen] = choose("127.0.0.1")

    assert chosen.address == "127.0.0.1"


def test_an_interface_may_be_named_by_its_name() -> None:
    [chosen] = choose("lo")

    assert ipaddress.ip_address(chosen.address).is_loopback


def test_without_a_name_neither_loopback_nor_tunnels_are_chosen() -> None:
    for chosen in choose(None):
        assert not ipaddress.ip_address(chosen.address).is_loopback
        assert not chosen.name.startswith(LEFT_OUT)


def test_an_address_that_is_not_here_is_answered_with_those_that_are() -> None:
    with pytest.raises(LocalError, match=r"192\.0\.2\.1; .*127\.0\.0\.1"):
        choose("192.0.2.1")
