"""`chat-tui doctor`: really tests what the chat needs, and names the fix of what fails.

The same tests run beside an open chat (F3 d, `/doctor`): then its own port, its peers and their
clocks are tested, which nobody else can.
"""

import asyncio
import errno
import json
import locale
import os
import shutil
import socket
import statistics
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from importlib.util import find_spec
from typing import Final

from chat_tui.client import control_client
from chat_tui.client.doctor import others
from chat_tui.client.doctor.closed_profile import opened
from chat_tui.client.doctor.findings import FAIL, Finding, as_json, as_lines
from chat_tui.client.doctor.membership_findings import membership_findings
from chat_tui.client.setup import Setup
from chat_tui.text.times import count, size
from chat_tui.wording.json_events import Json
from storage.extras import how_to_install
from storage.profile.profile import ProfileInUseError
from storage.sqlite.database import problems_in
from sync.errors import ChatError, LocalError
from sync.machine import MINUTE, SECOND, Nanos
from sync.net.discovery.interfaces import choose, has_ipv6_only
from sync.net.links.mesh import DEFAULT_PORT

MDNS_GROUP: Final = "224.0.0.251"
MDNS_PORT: Final = 5353
ADDRESSES_NAMED: Final = 3
"""Addresses named that take no connection."""

PEERS_WANTED: Final = 2
"""Peers that must have reached our port before it counts as reachable for everybody."""

SKEW_SEEN: Final[Nanos] = 2 * SECOND
"""From which on times in the conversation look wrong."""

SKEW_MAX: Final[Nanos] = 5 * MINUTE
"""From which on messages are set aside until their time (PROTOCOL 4)."""

DISK_FREE_MIN: Final = 100 * 1000 * 1000
"""Bytes: a year of a busy channel."""

NO_INTERFACE: Final = "there is no network interface"

COLUMNS_MIN, LINES_MIN = 60, 16


class Doctor:
    """All tests, in order. `running` is the status of the chat that is open, if one is."""

    def __init__(self, setup: Setup, running: Json | None = None) -> None:
        self._setup = setup
        self._running = running
        self._in_use = running is not None
        self._others: tuple[others.Address, ...] = ()
        """Addresses of other computers where a chat was announced a moment ago."""

    async def findings(self) -> AsyncGenerator[Finding]:
        """Run every test and yield what it finds."""
        if self._running is None and self._setup.exists:
            self._running = await self._ask()
        tests: list[Callable[[], Awaitable[Finding]]] = [
            self._python,
            self._data,
            self._disk,
            self._interface,
            self._multicast,
            self._mdns_port,
            self._announcement,
            self._port,
            self._reachable,
            self._clocks,
            self._terminal,
            self._java,
        ]
        for test in tests:
            yield await test()
        for finding in membership_findings(self._running):
            yield finding

    async def _ask(self) -> Json | None:
        """Return the status of the chat that has this profile open, None if none has."""
        try:
            async with opened(self._setup):
                pass
        except ProfileInUseError as error:
            self._in_use = True
            with suppress(ChatError):
                async with aclosing(control_client.ask(error.socket, {"do": "status"})) as replies:
                    async for reply in replies:
                        return reply
        except LocalError:
            pass  # the test of the data says why
        return None

    async def _python(self) -> Finding:
        return Finding("Python", sys.version.split()[0])

    # -- data ------------------------------------------------------------------------------------

    async def _data(self) -> Finding:
        """The profile opens, and its database is sound."""
        what = "profile and database"
        if not self._setup.exists:
            return Finding(what, "none yet; the first start creates them")
        path = self._setup.data_dir / self._setup.profile / "chat.db"
        try:
            if self._in_use:
                problems = await asyncio.to_thread(problems_in, path)
                where = f"open in the chat that runs, in {path.parent}"
            else:
                async with opened(self._setup) as closed:
                    if closed.database.refusal:
                        return Finding(what, "can only be read", closed.database.refusal)
                    problems = await closed.database.problems()
                where = f"in {path.parent}"
        except LocalError as error:
            return Finding(what, "cannot be used", str(error))
        if problems:
            return Finding(
                what,
                problems[0],
                "`chat-tui doctor --deep` makes anew what follows from the messages, and takes "
                "over what can be read.",
            )
        return Finding(what, f"sound, {where}")

    async def _disk(self) -> Finding:
        """The directory can be written, and has room."""
        what = "disk"
        place = self._setup.directory
        directory = next(one for one in (place, *place.parents) if os.access(one, os.F_OK))
        if not os.access(directory, os.W_OK):
            return Finding(
                what,
                f"{directory} cannot be written",
                "Make it writable, or choose another place with --data-dir.",
            )
        free = shutil.disk_usage(directory).free
        if free < DISK_FREE_MIN:
            return Finding(what, f"only {size(free)} are free", f"Free space in {directory}.")
        return Finding(what, f"writable, {size(free)} free")

    # -- network ---------------------------------------------------------------------------------

    async def _interface(self) -> Finding:
        what = "network interface"
        try:
            chosen = choose(self._setup.network.interface)
        except LocalError as error:
            return Finding(what, "not there", str(error))
        if not chosen and has_ipv6_only():
            return Finding(
                what,
                "only IPv6",
                "chat-tui speaks IPv4: connect to a network that has IPv4 addresses.",
            )
        if not chosen:
            return Finding(
                what,
                "none",
                "Connect to a Wi-Fi or cable network, or name an address with --interface.",
            )
        return Finding(what, ", ".join(f"{one.address} ({one.name})" for one in chosen))

    async def _multicast(self) -> Finding:
        """Joining the mDNS group on each interface works."""
        for address in self._addresses():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                joined = socket.inet_aton(MDNS_GROUP) + socket.inet_aton(address)
                try:
                    _share(probe)
                    probe.bind((MDNS_GROUP, MDNS_PORT))
                    probe.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
                except OSError as error:
                    return Finding(
                        "multicast",
                        f"does not work on {address}: {error.strerror}",
                        f"Let UDP port {MDNS_PORT} through the firewall; or /connect HOST:PORT.",
                    )
        if not self._addresses():
            return Finding("multicast", NO_INTERFACE, tested=False)
        return Finding("multicast", f"joined {MDNS_GROUP}")

    async def _mdns_port(self) -> Finding:
        """The port of mDNS can be shared with whoever uses it already."""
        what = f"UDP port {MDNS_PORT}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                _share(probe)
                probe.bind(("", MDNS_PORT))
            except OSError as error:
                return Finding(
                    what,
                    f"cannot be used: {error.strerror}",
                    "Another program keeps it to itself: end that one, or use /connect HOST:PORT.",
                )
        return Finding(what, "can be used")

    async def _announcement(self) -> Finding:
        """Test whether one instance hears what another one on the same computer announces."""
        what = "announcement heard back"
        addresses = self._addresses()
        if not addresses:
            return Finding(what, NO_INTERFACE, tested=False)
        try:
            heard = await others.hear(addresses)
        except ChatError as error:
            return Finding(what, "failed", str(error))
        self._others = heard.others
        if heard.itself:
            return Finding(what, "yes")
        return Finding(
            what,
            f"not within {others.ANNOUNCEMENT_WITHIN:.0f} s",
            f"A firewall or the access point drops multicast: allow UDP port {MDNS_PORT}, "
            "or use /connect HOST:PORT.",
        )

    async def _port(self) -> Finding:
        """The TCP port can be reached: by peers, or at least by ourselves."""
        running = self._running or {}
        if not self._addresses():
            return Finding("TCP port", NO_INTERFACE, tested=False)
        if not running.get("port"):
            return await self._free_port()
        port = int(running["port"])
        callers = sum(bool(peer["dialled_us"]) for peer in running["peers"])
        if callers:
            reached = f"{port} was reached by {count(callers, 'peer')}"
            more = "" if callers >= PEERS_WANTED else "; two would be surer"
            return Finding("TCP port", reached + more)
        for address in self._addresses():
            if not await others.connects(address, port, address):
                return Finding(
                    "TCP port",
                    f"{address}:{port} does not answer this computer itself",
                    f"Let TCP port {port} through the firewall, or choose another with --port.",
                )
        return Finding(
            "TCP port", f"{port} was reached by this computer; nobody who is here dialled it"
        )

    async def _reachable(self) -> Finding:
        """Others who announce themselves can be dialled: announcements pass where this may not."""
        what = "other chats"
        if not self._others:
            return Finding(what, "none is announced here now", tested=False)
        announced = f"{count(len(self._others), 'address', 'addresses')} announced"
        silent = await others.silent(self._others, self._setup.network.interface)
        if not silent:
            return Finding(what, f"{announced}, each takes connections")
        named = ", ".join(f"{host}:{port}" for host, port in silent[:ADDRESSES_NAMED])
        unnamed = len(silent) - ADDRESSES_NAMED
        more = f" and {unnamed} more" if unnamed > 0 else ""
        return Finding(
            what,
            f"{announced}, and no connection to {named}{more}",
            "A firewall, there or here, or the access point drops connections (TCP): "
            "let the port through where the chat runs.",
        )

    async def _free_port(self) -> Finding:
        """No chat is open: the port can be listened on; a taken one is no failure, not tested."""
        port = self._setup.network.port or DEFAULT_PORT
        for address in self._addresses():
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
                try:
                    probe.bind((address, port))
                    probe.listen(1)
                except OSError as error:
                    if error.errno == errno.EADDRINUSE:
                        taken = f"{port} is taken; the chat uses the next free one"
                        return Finding("TCP port", taken, tested=False)
                    return Finding(
                        "TCP port", f"{port}: {error.strerror}", "Choose another one with --port."
                    )
                if not await others.connects(address, port, address):
                    return Finding(
                        "TCP port",
                        f"{address}:{port} does not answer this computer itself",
                        f"Let TCP port {port} through the firewall, or choose another with --port.",
                    )
        return Finding("TCP port", f"{port} is free, and was reached by this computer alone")

    async def _clocks(self) -> Finding:
        """Our clock and those of the peers agree."""
        what = "clock"
        if self._running is None:
            return Finding(what, "it is compared with peers while the chat is open", tested=False)
        offsets = [
            int(peer["clock_offset_ns"])
            for peer in self._running["peers"]
            if peer["state"] == "up" and peer["clock_offset_ns"] is not None
        ]
        if not offsets:
            return Finding(what, "no peer is connected to compare with", tested=False)
        skew = round(statistics.median(offsets))
        found = f"{abs(skew) / SECOND:.1f} s {'behind' if skew > 0 else 'ahead of'} " + count(
            len(offsets), "peer"
        )
        if abs(skew) < SKEW_SEEN:
            return Finding(what, found)
        fix = "Set this computer's clock, or let it set itself (timedatectl set-ntp true)."
        return Finding(what, found, fix, warning=abs(skew) < SKEW_MAX)

    # -- around ----------------------------------------------------------------------------------

    async def _terminal(self) -> Finding:
        what = "terminal"
        screen = sys.__stdout__  # what stands in its place, while the chat is open, is none
        if screen is None or not screen.isatty():
            return Finding(what, "none here: plain mode is used")
        columns, lines = shutil.get_terminal_size()
        coding = (screen.encoding or locale.getpreferredencoding()).lower()
        colours = os.environ.get("COLORTERM") or os.environ.get("TERM", "unknown")
        found = f"{columns}x{lines}, colours {colours}, {coding}"
        if columns < COLUMNS_MIN or lines < LINES_MIN:
            fix = f"Enlarge it to {COLUMNS_MIN} columns and {LINES_MIN} lines, or use plain mode."
            return Finding(what, found, fix, warning=True)
        if "utf" not in coding:
            fix = "Set a UTF-8 locale (LANG=C.UTF-8); until then signs may look wrong."
            return Finding(what, found, fix, warning=True)
        return Finding(what, found)

    async def _java(self) -> Finding:
        """Only the audit pipeline needs it."""
        what = "Java for the audit pipeline"
        home = os.environ.get("JAVA_HOME")
        java = shutil.which("java") or (home and shutil.which("java", path=f"{home}/bin"))
        if java is None or not java:
            fix = "Only audits need it: install a Java 17 runtime (Debian: default-jre-headless)."
            return Finding(what, "none", fix, warning=True)
        if find_spec("pyspark") is None:
            fix = f"Only audits need it: {how_to_install('pipeline')}"
            return Finding(what, f"{java}, without PySpark", fix, warning=True)
        return Finding(what, java)

    def _addresses(self) -> list[str]:
        try:
            return [interface.address for interface in choose(self._setup.network.interface)]
        except LocalError:
            return []


async def run(
    setup: Setup,
    echo: Callable[[str], object],
    *,
    as_json_lines: bool = False,
    deep: bool = False,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:
    """Run every test and print what each finds; returns 0 if nothing fails.

    With `deep` every stored message is read too; `tell` hears how many of how many, in a thread.
    """
    failed = False
    tests = [Doctor(setup).findings()]
    if deep:
        from chat_tui.client.doctor import deep_check  # noqa: PLC0415  # /doctor needs none of it

        tests.append(deep_check.findings(setup, tell))
    for test in tests:
        async with aclosing(test) as findings:
            async for finding in findings:
                failed = failed or finding.level == FAIL
                if as_json_lines:
                    echo(json.dumps(as_json(finding), ensure_ascii=False))
                    continue
                for line in as_lines(finding):
                    echo(line)
    return int(failed)


def _share(probe: socket.socket) -> None:
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
