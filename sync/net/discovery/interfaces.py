"""Chooses the network interfaces: the one with the named address, or every ordinary one."""

import ipaddress
from collections.abc import Collection

import ifaddr
from msgspec import Struct

from sync.errors import LocalError

LEFT_OUT = (
    "docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "lxc", "lxd", "podman", "cni",
    "tun", "tap", "wg", "tailscale", "zt", "utun", "ppp", "ipsec", "nordlynx",
)  # fmt: skip
"""Names of VPN and container interfaces begin so: people there are not on this network."""


class Interface(Struct, frozen=True):
    """One address of one interface."""

    name: str
    address: str


def choose(named: str | None) -> list[Interface]:
    """Return the addresses to listen, announce and dial on; empty while there is no network.

    Raises:
        LocalError: no interface has the address that was named.
    """
    present = _present()
    if named is None:
        return [
            interface
            for interface in present
            if not interface.name.startswith(LEFT_OUT)
            and not ipaddress.ip_address(interface.address).is_loopback
        ]
    chosen = [interface for interface in present if named in (interface.address, interface.name)]
    if not chosen:
        known = ", ".join(f"{one.address} ({one.name})" for one in present)
        raise LocalError(f"No interface has the address {named}; this computer has {known}.")
    return chosen[:1]


def has_ipv6_only() -> bool:
    """Return whether there are routed IPv6 addresses and no IPv4 address at all."""
    return not choose(None) and any(
        address.is_IPv6 and _is_routed(str(address.ip[0]))
        for adapter in ifaddr.get_adapters()
        if not adapter.nice_name.startswith(LEFT_OUT)
        for address in adapter.ips
    )


def _is_routed(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    return not (found.is_loopback or found.is_link_local or found.is_multicast)


def networks_of(addresses: Collection[str]) -> list[ipaddress.IPv4Network]:
    """Return the networks that addresses of this computer are in; an address alone if unknown."""
    prefixes = {
        str(address.ip): address.network_prefix
        for adapter in ifaddr.get_adapters()
        for address in adapter.ips
        if address.is_IPv4
    }
    return [
        ipaddress.IPv4Network(f"{address}/{prefixes.get(address, 32)}", strict=False)
        for address in addresses
    ]


def _present() -> list[Interface]:
    found = [
        Interface(adapter.nice_name, str(address.ip))
        for adapter in ifaddr.get_adapters()
        for address in adapter.ips
        if address.is_IPv4
    ]
    return sorted(found, key=lambda interface: (interface.name, interface.address))
