"""Chats that announce themselves beside ours, and whether they take connections.

A firewall that lets announcements through and connections not leaves two people alone who hear
each other, and every other test is content.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import Final, TypeAlias

from msgspec import Struct

from chat_tui.client.exception_groups import plain_errors
from sync.net.clock import draw
from sync.net.discovery.mdns import Discovery
from sync.net.links.mesh import DEFAULT_PORT

Address: TypeAlias = tuple[str, int]

ANNOUNCEMENT_WITHIN: Final = 3.0
"""Seconds until our own announcement must have been heard; on a good network it takes 0.1 s."""

OTHERS_WITHIN: Final = 1.0
"""Seconds after that for the others, who answer within 0.2 s."""

OTHERS_MAX: Final = 32
"""Others tried at once: anybody can announce any number."""

CONNECT_WITHIN: Final = 2.0
"""Seconds for a connection within this network, or to this computer itself."""


class Heard(Struct, frozen=True):
    """Announcements heard: whether our own came back, and the addresses of other computers."""

    itself: bool
    others: tuple[Address, ...]


async def hear(addresses: Collection[str]) -> Heard:
    """Announce on our `addresses`, and listen there for that and for others."""
    heard = asyncio.Event()
    wanted = draw(8).hex()
    others: dict[Address, None] = {}

    def found(instance: str, host: str, port: int, *_: bool) -> None:
        if instance == wanted:
            heard.set()
        elif host not in addresses and len(others) < OTHERS_MAX:
            others[host, port] = None

    with plain_errors():
        async with asyncio.TaskGroup() as tasks:
            speaker = Discovery(wanted, lambda *_: None, lambda _, work: tasks.create_task(work))
            listener = Discovery(draw(8).hex(), found, lambda _, work: tasks.create_task(work))
            resolving = tasks.create_task(listener.resolve_forever())
            try:
                await listener.start(list(addresses), DEFAULT_PORT)
                await speaker.start(list(addresses), DEFAULT_PORT)
                with suppress(TimeoutError):
                    async with asyncio.timeout(ANNOUNCEMENT_WITHIN):
                        await heard.wait()
                        await asyncio.sleep(OTHERS_WITHIN)
            finally:  # also when the screen is closed meanwhile: their sockets would stay open
                await speaker.stop()
                await listener.stop()
                resolving.cancel()
    return Heard(heard.is_set(), tuple(others))


async def silent(others: Collection[Address], local_address: str | None) -> list[Address]:
    """Return which of `others` take no connection; `local_address` is where to dial from."""
    taken = await asyncio.gather(*[connects(*other, local_address) for other in others])
    return [other for other, takes in zip(others, taken, strict=True) if not takes]


async def connects(host: str, port: int, local_address: str | None) -> bool:
    """Return whether a connection to a port is accepted."""
    local = None if local_address is None else (local_address, 0)
    try:
        async with asyncio.timeout(CONNECT_WITHIN):
            _, writer = await asyncio.open_connection(host, port, local_addr=local)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
