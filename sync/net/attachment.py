"""Being on the network: which addresses, listening and announcing there, following changes.

The interfaces come and go: a cable is pulled, a laptop moves, `--interface` names one that is not
there yet. Whatever they are now, all that depends on an address begins anew with them.
"""

import asyncio
import random
from collections.abc import Callable
from typing import Final

from sync.errors import LocalError
from sync.net import descriptors
from sync.net.clock import Clock
from sync.net.discovery.interfaces import Interface, choose, has_ipv6_only
from sync.net.discovery.mdns import Discovery
from sync.net.links.mesh import Mesh
from sync.net.options import NOT_YET, Options
from sync.view.view import Level, Notice

ANNOUNCE_EVERY: Final = (20.0, 30.0)
"""Seconds between announcements, drawn anew each time."""

ONLY_IPV6: Final = (
    "This network has IPv6 only, and chat-tui speaks IPv4: it needs a network with IPv4 addresses. "
    "What you write waits."
)

NO_NETWORK: Final = (
    "No network: connect to a Wi-Fi or cable network, or name an address with --interface. "
    "What you write waits."
)


class Online:
    """See the module docstring."""

    def __init__(
        self,
        options: Options,
        mesh: Mesh,
        discovery: Discovery,
        clock: Clock,
        notify: Callable[[Notice], None],
    ) -> None:
        self.interfaces: list[Interface] = []
        self.sentence = NOT_YET
        """Present state of the network and its next step."""
        self._options = options
        self._mesh = mesh
        self._discovery = discovery
        self._clock = clock
        self._notify = notify

    async def start(self) -> None:
        """Listen and announce on the interfaces of now; without any, `follow` finds them later.

        Raises:
            LocalError: the named interface does not exist, or no port is free.
        """
        descriptors.make_room()
        await self._take(choose(self._options.interface))

    async def follow(self) -> None:
        """Begin anew if the interfaces are not those of before."""
        present = self._present()
        if present == self.interfaces:
            return
        self._notify(Notice("The network changed; reconnecting to everybody."))
        await self._begin_anew(present, "the address changed")

    async def begin_anew(self, reason: str) -> None:
        """Close every link, listen and announce anew, and dial everybody."""
        await self._begin_anew(self._present(), reason)

    async def announce_forever(self, rng: random.Random) -> None:
        """Announce from time to time, for those that were cut off."""
        while True:
            await asyncio.sleep(rng.uniform(*ANNOUNCE_EVERY))
            await self._discovery.announce_again()

    def _present(self) -> list[Interface]:
        try:
            return choose(self._options.interface)
        except LocalError:
            return []  # the named one is gone, and may come back
        except OSError:
            return self.interfaces  # the system does not say

    async def _begin_anew(self, present: list[Interface], reason: str) -> None:
        self._mesh.hang_up(reason)
        try:
            await self._take(present)
        except LocalError as error:  # `follow` does not insist on what failed
            self.interfaces = present
            self.sentence = str(error)
            self._notify(Notice(str(error), Level.ERROR))

    async def _take(self, present: list[Interface]) -> None:
        hosts = [interface.address for interface in present]
        self.interfaces = present
        if not hosts:
            self.sentence = ONLY_IPV6 if has_ipv6_only() else NO_NETWORK
            self._mesh.deafen()
            await self._discovery.stop()
            return
        port = await self._mesh.listen(hosts, self._mesh.port or self._options.port)
        self._mesh.local_address = hosts[0] if self._options.interface is not None else None
        for host, number in self._options.connect:
            self._mesh.addresses.add(host, number, self._clock.now(), named=True)
        here = ", ".join(hosts)
        self.sentence = f"Looking for people on {here}."
        if self._options.discovery:
            try:
                await self._discovery.start(hosts, port)
            except LocalError as error:
                self.sentence = str(error)
                self._notify(Notice(str(error), Level.ERROR))
        else:
            self.sentence = f"Discovery is off on {here}: /connect dials an address."
        self._mesh.dial_due()
