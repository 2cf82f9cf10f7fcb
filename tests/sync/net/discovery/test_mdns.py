"""Announcements as packets: which of them are reported, and as what."""

import asyncio
from collections.abc import Coroutine

from zeroconf import ServiceInfo, current_time_millis
from zeroconf._protocol.incoming import DNSIncoming
from zeroconf._protocol.outgoing import DNSOutgoing

from sync.net.clock import draw
from sync.net.discovery.mdns import (
    AGAIN_AFTER_MS,
    HEARD_MAX,
    INSTANCE_SIZE,
    SERVICE,
    TXT_VERSION,
    Discovery,
)

HOST = "127.0.0.1"
PORT = 46021
IS_ANSWER = 0x8400
TTL = 4500


def announcement(instance: str, at_ms: float) -> DNSIncoming:
    """An announcement of another program, as it is heard at a time."""
    info = ServiceInfo(
        SERVICE,
        f"{instance}.{SERVICE}",
        port=PORT,
        properties={b"v": TXT_VERSION},
        server=f"{instance}.local.",
        parsed_addresses=[HOST],
    )
    packet = DNSOutgoing(IS_ANSWER)
    for record in (info.dns_pointer(), info.dns_service(), info.dns_text(), *info.dns_addresses()):
        packet.add_answer_at_time(record, 0)
    return DNSIncoming(packet.packets()[0], now=at_ms)


async def test_who_is_announced_some_time_later_is_reported_once_more() -> None:
    found: list[tuple[str, int, bool]] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(name: str, work: Coroutine[None, None, None]) -> None:
        tasks.add(asyncio.create_task(work, name=name))

    def hear(instance: str, _host: str, port: int, again: bool) -> None:
        found.append((instance, port, again))

    other, now = draw(INSTANCE_SIZE).hex(), current_time_millis()
    listening = Discovery(draw(INSTANCE_SIZE).hex(), hear, spawn)
    await listening.start([HOST], 1)
    try:
        assert listening._zeroconf is not None
        ear = listening._zeroconf.zeroconf.record_manager
        for instance in (other, listening.instance, "no name of ours"):
            for late in (0, 1, AGAIN_AFTER_MS - 1, 2 * AGAIN_AFTER_MS):
                ear.async_updates_from_response(announcement(instance, now + late))
    finally:
        await listening.stop()
        await asyncio.gather(*tasks, return_exceptions=True)

    ours = [(port, again) for instance, port, again in found if instance == other]
    assert ours == [(PORT, False), (PORT, True)]
    assert {instance for instance, _, _ in found} == {other}


async def test_after_a_flood_of_names_all_is_forgotten_and_listened_for_anew() -> None:
    """Half a minute of them took 90 MB of memory, for as long as the chat ran."""
    found: list[str] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(name: str, work: Coroutine[None, None, None]) -> None:
        tasks.add(asyncio.create_task(work, name=name))

    listening = Discovery(draw(INSTANCE_SIZE).hex(), lambda name, *_: found.append(name), spawn)
    await listening.start([HOST], 1)
    try:
        assert listening._zeroconf is not None
        before = listening._zeroconf
        await listening.announce_again()
        assert listening._zeroconf is before
        for number in range(HEARD_MAX + 1):
            packet = announcement(f"{number:016x}", current_time_millis())
            before.zeroconf.record_manager.async_updates_from_response(packet)

        await listening.announce_again()

        after = listening._zeroconf
        assert after is not None
        assert after is not before
        assert listening._heard < HEARD_MAX
        other = draw(INSTANCE_SIZE).hex()
        packet = announcement(other, current_time_millis())
        after.zeroconf.record_manager.async_updates_from_response(packet)
        assert other in found
    finally:
        await listening.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
