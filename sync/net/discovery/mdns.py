"""Finding peers by mDNS: `_chat-tui._tcp.local.`, a random instance name, version and port.

mDNS is a hint: it only ever adds addresses to dial, of the networks we are on. Links tell who is
there and alive; so a forged goodbye changes nothing, a forged address fails its handshake, and a
flood of names is capped. Nothing announced tells who we are or what we talk about.
"""

import asyncio
import contextlib
import ipaddress
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import zeroconf
from zeroconf import (
    IPVersion,
    RecordUpdate,
    RecordUpdateListener,
    ServiceInfo,
    ServiceStateChange,
    Zeroconf,
)
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from sync.errors import LocalError
from sync.net.discovery.interfaces import networks_of

SERVICE: Final = "_chat-tui._tcp.local."
TXT_VERSION: Final = b"1"

INSTANCE_SIZE: Final = 8
"""Random bytes of an instance name, which is their hex: no two are alike, so nobody probes."""

OURS: Final = re.compile(r"([0-9a-f]{16})\." + re.escape(SERVICE))
"""The one form of a name that is looked up: what else is announced is not from this program."""

NAMES_MAX: Final = 256
"""Names waiting to be looked up; a flood of them pushes out the oldest, not the links we have."""

RESOLVES_PER_SECOND: Final = 5
RESOLVE_BURST: Final = 20
"""A room of people appears at once; after that a flood costs five look-ups a second."""

RESOLVES_MAX: Final = 16
"""Look-ups at once: a forged name is waited for in vain for `RESOLVE_TIMEOUT_MS`."""

RESOLVE_TIMEOUT_MS: Final = 3000
AGAIN_AFTER_MS: Final = 5000
"""Time from one announcement of a name to the next that is reported as another one: two or three
packets make one."""

HEARD_MAX: Final = 10_000
"""Names that are heard before all is begun anew, which frees what the browser keeps of each."""

ADDRESSES_MAX: Final = 4
"""Addresses taken of one name."""


class Discovery:
    """Announces one port on some addresses, and reports every other instance it hears of.

    `instance` is the hex of `INSTANCE_SIZE` random bytes. `on_found(instance, host, port, again)`
    is called for each address of each other instance, `again` when it is announced once more.
    `spawn` starts a task.
    """

    def __init__(
        self,
        instance: str,
        on_found: Callable[[str, str, int, bool], None],
        spawn: Callable[[str, Coroutine[Any, Any, None]], object],
    ) -> None:
        self.instance = instance
        self._on_found = on_found
        self._spawn = spawn
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._info: ServiceInfo | None = None
        self._networks: list[ipaddress.IPv4Network] = []
        self._names: OrderedDict[str, None] = OrderedDict()
        self._named = asyncio.Event()
        self._places = asyncio.Semaphore(RESOLVES_MAX)
        self._where: tuple[Sequence[str], int] | None = None
        """Addresses and port, once we have begun."""
        self._heard = 0
        """Names that were heard since."""
        self._turn = asyncio.Lock()
        """Lets one at a time begin or stop."""

    async def start(self, addresses: Sequence[str], port: int) -> None:
        """Listen and announce on `addresses`; returns before the announcement is complete.

        Raises:
            LocalError: the addresses do not do multicast.
        """
        async with self._turn:
            await self._start(addresses, port)

    async def _start(self, addresses: Sequence[str], port: int) -> None:
        await self._stop()
        self._where, self._heard = (addresses, port), 0
        try:
            self._zeroconf = AsyncZeroconf(interfaces=list(addresses), ip_version=IPVersion.V4Only)
        except OSError as error:
            raise LocalError(
                f"Looking for people by mDNS does not work here ({error.strerror}); "
                "use /connect HOST:PORT to reach somebody by address."
            ) from error
        self._networks = networks_of(addresses)
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
        self._zeroconf.zeroconf.async_add_listener(_Repeated(self._on_again), None)
        self._spawn("announcing", self._announce(self._zeroconf, self._info))

    async def resolve_forever(self) -> None:
        """Look up names within the budget, the newest first: a flood is older than who follows."""
        clock = asyncio.get_running_loop().time
        budget, filled_at = float(RESOLVE_BURST), clock()
        while True:
            await self._named.wait()
            await self._places.acquire()
            budget = min(RESOLVE_BURST, budget + (clock() - filled_at) * RESOLVES_PER_SECOND)
            filled_at = clock()
            if budget < 1:
                await asyncio.sleep((1 - budget) / RESOLVES_PER_SECOND)
            if self._names:
                budget -= 1
                name, _ = self._names.popitem()
                self._spawn("looking up", self._resolve(name))
            else:
                self._named.clear()
                self._places.release()

    async def announce_again(self) -> None:
        """Announce once more: browsers stop asking after 14 s, and miss who was cut off.

        After a flood of names all is begun anew, which forgets them.
        """
        async with self._turn:
            if self._where is not None and (self._zeroconf is None or self._heard > HEARD_MAX):
                with contextlib.suppress(LocalError):  # until the next time
                    await self._start(*self._where)
                return
        if self._zeroconf is not None and self._info is not None:
            with contextlib.suppress(zeroconf.Error, OSError):  # until the next time
                await (await self._zeroconf.async_update_service(self._info))

    async def stop(self) -> None:
        """Say goodbye and stop listening."""
        async with self._turn:
            await self._stop()

    async def _stop(self) -> None:
        self._where = None
        browser, speaker = self._browser, self._zeroconf
        self._browser = self._zeroconf = self._info = None
        self._names.clear()
        with contextlib.suppress(zeroconf.Error, OSError):  # the interface may be gone
            if browser is not None:
                await browser.async_cancel()
        with contextlib.suppress(zeroconf.Error, OSError):
            if speaker is not None:
                await speaker.async_close()

    async def _announce(self, speaker: AsyncZeroconf, info: ServiceInfo) -> None:
        """Announce at once: a random name needs no probing, which takes a second."""
        with contextlib.suppress(zeroconf.Error, OSError):  # stopped meanwhile
            await (await speaker.async_register_service(info, cooperating_responders=True))

    def _on_change(
        self,
        zeroconf: Zeroconf,
        service_type: str,
        name: str,
        state_change: ServiceStateChange,
    ) -> None:
        del service_type
        self._heard += state_change is ServiceStateChange.Added
        match = OURS.fullmatch(name)
        if match is None or match[1] == self.instance:
            return
        if state_change is ServiceStateChange.Removed:
            return  # whether a peer is gone, its link tells
        info = AsyncServiceInfo(SERVICE, name)
        if info.load_from_cache(zeroconf):
            self._report(match[1], info)  # ours say all at once, so nobody has to be asked
            return
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > NAMES_MAX:
            self._names.popitem(last=False)
        self._named.set()

    def _on_again(self, zeroconf: Zeroconf, name: str) -> None:
        """Report what is announced again: a flood may have pushed out its address meanwhile."""
        match = OURS.fullmatch(name)
        if match is None or match[1] == self.instance:
            return
        info = AsyncServiceInfo(SERVICE, name)
        if info.load_from_cache(zeroconf):
            self._report(match[1], info, again=True)

    async def _resolve(self, name: str) -> None:
        try:
            if self._zeroconf is None:
                return
            info = AsyncServiceInfo(SERVICE, name)
            if await info.async_request(self._zeroconf.zeroconf, RESOLVE_TIMEOUT_MS):
                self._report(name.removesuffix(f".{SERVICE}"), info)
        except (zeroconf.Error, OSError):
            return  # stopped meanwhile, or a record that nobody can make sense of
        finally:
            self._places.release()

    def _report(self, instance: str, info: ServiceInfo, *, again: bool = False) -> None:
        if not info.port or info.properties.get(b"v") != TXT_VERSION:
            return
        for address in info.parsed_addresses(IPVersion.V4Only)[:ADDRESSES_MAX]:
            if self._is_plausible(address):
                self._on_found(instance, address, info.port, again)

    def _is_plausible(self, address: str) -> bool:
        """Return whether an address is on one of our networks; peers elsewhere are not accepted."""
        ip = ipaddress.IPv4Address(address)
        return any(ip in network for network in self._networks)


class _Repeated(RecordUpdateListener):
    """Calls `told` with each name of ours that is announced though it is known: browsers do not."""

    def __init__(self, told: Callable[[Zeroconf, str], None]) -> None:
        self._told = told

    def async_update_records(self, zc: Zeroconf, now: float, records: list[RecordUpdate]) -> None:
        """Look for pointers to instances that were pointed to some time ago."""
        for record in records:
            new, known = record.new, record.old
            name: str | None = getattr(new, "alias", None)  # of a pointer
            if name is None or new.name != SERVICE or new.is_expired(now):
                continue
            if known is not None and new.created - known.created >= AGAIN_AFTER_MS:
                self._told(zc, name)
