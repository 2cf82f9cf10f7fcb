"""Finding peers by mDNS: `_chat-tui._tcp.local.`, a random instance name, version and port.

mDNS is a hint: it only ever adds addresses to dial. Who is there and alive, links tell; so a
forged goodbye changes nothing, a forged address fails its handshake, and a flood of names is
capped. Nothing announced tells who we are or what we talk about.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from zeroconf import (
    InterfaceChoice,
    IPVersion,
    NonUniqueNameException,
    ServiceInfo,
    ServiceStateChange,
    Zeroconf,
)
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from sync.errors import LocalError

SERVICE: Final = "_chat-tui._tcp.local."
TXT_VERSION: Final = b"1"

NAMES_MAX: Final = 256
"""Instance names remembered; a flood of them pushes out the oldest, not the links we have."""

RESOLVES_PER_SECOND: Final = 5
RESOLVE_BURST: Final = 20
"""A room of people appears at once; after that a flood costs five look-ups a second."""

RESOLVE_TIMEOUT_MS: Final = 3000
ADDRESSES_MAX: Final = 4
"""Addresses taken of one name."""


class Discovery:
    """Announces one port on some addresses, and reports every other instance it hears of."""

    def __init__(
        self,
        instance: str,
        on_found: Callable[[str, str, int], None],
        spawn: Callable[[str, Coroutine[Any, Any, None]], object],
    ) -> None:
        """`on_found(instance, host, port)` is called for each address of each other instance."""
        self.instance = instance
        self._on_found = on_found
        self._spawn = spawn
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._info: ServiceInfo | None = None
        self._names: OrderedDict[str, None] = OrderedDict()
        self._to_resolve: asyncio.Queue[str] = asyncio.Queue(NAMES_MAX)
        self._budget = float(RESOLVE_BURST)

    async def start(self, addresses: Sequence[str], port: int) -> None:
        """Listen and announce on `addresses`; returns before the announcement is complete.

        Raises:
            LocalError: the addresses do not do multicast.
        """
        await self.stop()
        try:
            self._zeroconf = AsyncZeroconf(
                interfaces=list(addresses) or InterfaceChoice.Default,
                ip_version=IPVersion.V4Only,
            )
        except OSError as error:
            raise LocalError(
                f"Looking for people by mDNS does not work here ({error}); "
                "use /connect HOST:PORT to reach somebody by address."
            ) from error
        self._info = ServiceInfo(
            SERVICE,
            f"{self.instance}.{SERVICE}",
            port=port,
            properties={b"v": TXT_VERSION, b"p": str(port).encode()},
            server=f"{self.instance}.local.",
            parsed_addresses=list(addresses),
        )
        self._browser = AsyncServiceBrowser(
            self._zeroconf.zeroconf, SERVICE, handlers=[self._on_change]
        )
        self._spawn("announcing", self._announce(self._zeroconf, self._info))

    async def resolve_forever(self) -> None:
        """Look up names as they come, within the budget."""
        while True:
            name = await self._to_resolve.get()
            while self._budget < 1:
                await asyncio.sleep(1 / RESOLVES_PER_SECOND)
                self._budget += 1
            self._budget -= 1
            await self._resolve(name)

    def refill(self, seconds: float) -> None:
        """Give back budget for the time that passed."""
        self._budget = min(RESOLVE_BURST, self._budget + seconds * RESOLVES_PER_SECOND)

    async def announce_again(self) -> None:
        """Announce once more: browsers stop asking after 14 s, and miss who was cut off."""
        if self._zeroconf is not None and self._info is not None:
            await self._zeroconf.async_update_service(self._info)

    async def stop(self) -> None:
        """Say goodbye and stop listening."""
        if self._browser is not None:
            await self._browser.async_cancel()
        if self._zeroconf is not None:
            await self._zeroconf.async_close()
        self._browser = self._zeroconf = self._info = None

    async def _announce(self, zeroconf: AsyncZeroconf, info: ServiceInfo) -> None:
        """Register, which takes 1.5 s of probing; nobody waits for it."""
        try:
            await (await zeroconf.async_register_service(info))
        except NonUniqueNameException:
            return  # somebody answers for our random name: a forgery; links do not depend on it

    def _on_change(
        self,
        zeroconf: Zeroconf,
        service_type: str,
        name: str,
        state_change: ServiceStateChange,
    ) -> None:
        del zeroconf, service_type
        instance = name.removesuffix(f".{SERVICE}")
        if state_change is ServiceStateChange.Removed or instance == self.instance:
            return  # whether a peer is gone, its link tells
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > NAMES_MAX:
            self._names.popitem(last=False)
        if not self._to_resolve.full():
            self._to_resolve.put_nowait(name)

    async def _resolve(self, name: str) -> None:
        if self._zeroconf is None:
            return
        info = AsyncServiceInfo(SERVICE, name)
        if not await info.async_request(self._zeroconf.zeroconf, RESOLVE_TIMEOUT_MS):
            return
        if info.port is None or info.properties.get(b"v") != TXT_VERSION:
            return
        instance = name.removesuffix(f".{SERVICE}")
        for address in info.parsed_addresses(IPVersion.V4Only)[:ADDRESSES_MAX]:
            self._on_found(instance, address, info.port)
