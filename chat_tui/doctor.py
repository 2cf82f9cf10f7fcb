"""`chat-tui doctor`: really tests what the chat needs, and names the fix of what fails."""

import asyncio
import errno
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from chat_tui.client import Client, Setup, plain_errors
from storage.profile import ProfileInUseError
from sync.errors import ChatError, LocalError
from sync.net.clock import draw
from sync.net.discovery import Discovery
from sync.net.interfaces import choose
from sync.net.mesh import DEFAULT_PORT

MDNS_GROUP: Final = "224.0.0.251"
MDNS_PORT: Final = 5353
ANNOUNCEMENT_WITHIN: Final = 5.0
"""Seconds until our own announcement must have been heard; on a good network it takes 0.1 s."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one test found; `fix` is empty where all is well."""

    what: str
    found: str
    fix: str = ""


async def run(setup: Setup, echo: Callable[[str], object]) -> int:
    """Run every test and print a line each; returns 0 if all is well."""
    failed = 0
    tests: list[Callable[[Setup], Awaitable[Finding]]] = [
        _python,
        _data,
        _interface,
        _multicast,
        _announcement,
        _port,
    ]
    for test in tests:
        finding = await test(setup)
        failed += bool(finding.fix)
        echo(f"{'FAIL' if finding.fix else 'ok  '}  {finding.what}: {finding.found}")
        if finding.fix:
            echo(f"      {finding.fix}")
    return 1 if failed else 0


async def _python(setup: Setup) -> Finding:
    del setup
    return Finding("Python", sys.version.split()[0])


async def _data(setup: Setup) -> Finding:
    """The profile opens, and its database is sound."""
    if not setup.exists:
        return Finding("profile and database", "none yet; the first start makes them")
    try:
        client = await Client.open(setup)
    except ProfileInUseError as error:
        return Finding("profile and database", f"open in another terminal. {error}")
    except LocalError as error:
        return Finding("profile and database", "cannot be used", str(error))
    try:
        problems = await client.problems()
    finally:
        await client.close()
    if problems:
        return Finding(
            "profile and database",
            problems[0],
            "Move the database aside and start again; the history comes back from the others.",
        )
    return Finding("profile and database", f"sound, in {client.profile.directory}")


async def _interface(setup: Setup) -> Finding:
    try:
        chosen = choose(setup.network.interface)
    except LocalError as error:
        return Finding("network interface", "not there", str(error))
    if not chosen:
        return Finding(
            "network interface",
            "none",
            "Connect to a Wi-Fi or cable network, or name an address with --interface.",
        )
    return Finding("network interface", ", ".join(f"{one.address} ({one.name})" for one in chosen))


async def _multicast(setup: Setup) -> Finding:
    """Joining the mDNS group on each interface works."""
    for address in _addresses(setup):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            request = struct.pack("4s4s", socket.inet_aton(MDNS_GROUP), socket.inet_aton(address))
            try:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                probe.bind((MDNS_GROUP, MDNS_PORT))
                probe.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
            except OSError as error:
                return Finding(
                    "multicast",
                    f"does not work on {address}: {error.strerror}",
                    f"Let UDP port {MDNS_PORT} through the firewall; or use /connect HOST:PORT.",
                )
    return Finding("multicast", f"joined {MDNS_GROUP}, UDP port {MDNS_PORT}")


async def _announcement(setup: Setup) -> Finding:
    """What one instance announces, another one on the same computer hears."""
    what = "announcement heard back"
    addresses = _addresses(setup)
    if not addresses:
        return Finding(what, "not tested without an interface")
    heard = asyncio.Event()
    wanted = draw(8).hex()

    def found(instance: str, host: str, port: int) -> None:
        del host, port
        if instance == wanted:
            heard.set()

    try:
        with plain_errors():
            async with asyncio.TaskGroup() as tasks:
                speaker = Discovery(
                    wanted, lambda *_: None, lambda _, work: tasks.create_task(work)
                )
                listener = Discovery(draw(8).hex(), found, lambda _, work: tasks.create_task(work))
                resolving = tasks.create_task(listener.resolve_forever())
                await listener.start(addresses, DEFAULT_PORT)
                await speaker.start(addresses, DEFAULT_PORT)
                with suppress(TimeoutError):
                    async with asyncio.timeout(ANNOUNCEMENT_WITHIN):
                        await heard.wait()
                await speaker.stop()
                await listener.stop()
                resolving.cancel()
    except ChatError as error:
        return Finding(what, "failed", str(error))
    if heard.is_set():
        return Finding(what, "yes")
    return Finding(
        what,
        f"not within {ANNOUNCEMENT_WITHIN:.0f} s",
        f"A firewall or the access point drops multicast: allow UDP port {MDNS_PORT}, "
        "or use /connect HOST:PORT.",
    )


async def _port(setup: Setup) -> Finding:
    """The TCP port can be listened on; a taken one is no failure."""
    port = setup.network.port or DEFAULT_PORT
    for address in _addresses(setup):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((address, port))
                probe.listen(1)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return Finding("TCP port", f"{port} is taken; the next free one is used")
                return Finding(
                    "TCP port", f"{port}: {error.strerror}", "Choose another one with --port."
                )
    return Finding("TCP port", f"{port} is free")


def _addresses(setup: Setup) -> list[str]:
    try:
        return [interface.address for interface in choose(setup.network.interface)]
    except LocalError:
        return []
