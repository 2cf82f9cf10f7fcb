"""The listening port: who connects, proves who it is and what for, before it gets any room.

Rules:
1. A peer that has not proved an identity, and for a session a channel, is a stranger: there are few
   of them, few from one address, and none stays for long.
2. A fault of one connection ends that connection, and is counted.
"""

import asyncio
import errno
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias
from weakref import WeakSet

from sync.entries.identity import Identity
from sync.errors import LocalError, RemoteError
from sync.machine import Nanos
from sync.net.clock import draw_key
from sync.net.links.frames import Open
from sync.net.links.handshake import OwnKeyError
from sync.net.links.link import LINK_FRAME_MAX, STRANGER_BYTES_MAX, read_open
from sync.net.links.stream import (
    HANDSHAKE_DEADLINE,
    READ_AHEAD,
    DisconnectedError,
    SecureStream,
    patience,
    read_little,
)

PORTS_TRIED: Final = 50
"""Number of ports after the wanted one that are tried when it is taken."""

STRANGERS_MAX: Final = 128
"""Strangers at once, from everywhere."""

STRANGERS_PER_ADDRESS_MAX: Final = 8

ACCEPTING_TURNS: Final = 4
"""Of the event loop, from accepting a connection to handing it over: two, and two to spare."""

Spawn: TypeAlias = Callable[[str, Coroutine[Any, Any, None]], object]
"""Start a task under the node's care, with a name for its errors."""

Serve: TypeAlias = Callable[[], Awaitable[None]]
"""Use a connection until it ends."""

Admit: TypeAlias = Callable[[SecureStream, Open], Awaitable[Serve]]
"""Decide about who proved an identity; raises `RemoteError` if it must go."""


class BlockedError(RemoteError):
    """The person wants no link with this peer, which did nothing wrong by dialling."""


def _not_slow(host: str) -> Nanos:
    """Return how slow the links from an address are, where nothing is known of them."""
    del host
    return 0


class Listener:
    """See the module docstring.

    `refused(who, reason)` counts what was sent away; `trip_from` tells how slow the links are of
    those at an address who are no strangers.
    """

    def __init__(
        self,
        identity: Identity,
        admit: Admit,
        refused: Callable[[str, str], None],
        spawn: Spawn,
        trip_from: Callable[[str], Nanos] = _not_slow,
    ) -> None:
        self._identity = identity
        self._trip_from = trip_from
        self._admit = admit
        self._refused = refused
        self._spawn = spawn
        self._servers: list[asyncio.Server] = []
        self._accepted: WeakSet[asyncio.WriteTransport] = WeakSet()
        """Not their writers: of one whose task never began nobody else knows."""
        self._strangers: Counter[str] = Counter()

    async def listen(self, hosts: Sequence[str], first: int) -> int:
        """Accept connections on all `hosts` at one port: `first`, or the next free one.

        Raises:
            LocalError: no port is free, or an address is gone.
        """
        await self.stop()
        for port in range(first, min(first + PORTS_TRIED, 65_536)):
            try:
                for host in hosts:
                    server = await asyncio.start_server(
                        self._on_connection, host, port, limit=READ_AHEAD
                    )
                    self._servers.append(server)
            except OSError as error:
                self.close()
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise LocalError(
                        f"Cannot listen on {', '.join(hosts)} ({error.strerror}): look whether "
                        "this computer still has that address, or choose another one with "
                        "--interface."
                    ) from error
            else:
                return port
        raise LocalError(
            f"The ports from {first} on are all taken; choose another one with --port."
        )

    async def stop(self) -> None:
        """Accept nobody any more, and close the port; who is just being accepted is let in first.

        CPython 3.11 forgets the socket of whoever it has accepted and not yet handed over when the
        server closes (its issue 109564).
        """
        loop = asyncio.get_running_loop()
        for server in self._servers:
            for listening in server.sockets:
                loop.remove_reader(listening)
        for _ in range(ACCEPTING_TURNS):
            await asyncio.sleep(0)
        self.close()

    def close(self) -> None:
        """Accept nobody any more; connections that are open go on."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    def abort(self) -> None:
        """Cut whatever was accepted and is still open: we are leaving."""
        for transport in list(self._accepted):
            transport.abort()

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._accepted.add(writer.transport)
        read_little(writer.transport)
        host = (writer.get_extra_info("peername") or ("", 0))[0]
        if (
            self._strangers.total() >= STRANGERS_MAX
            or self._strangers[host] >= STRANGERS_PER_ADDRESS_MAX
        ):
            writer.transport.abort()
            self._refused(host, "too many connections at once")
            return
        self._strangers[host] += 1  # at once: a hundred may come before the first task begins
        if self._spawn("a connection", self._meet(host, reader, writer)) is None:
            writer.transport.abort()  # we are leaving
            self._free(host)

    async def _meet(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        who, handed_over = host, False
        try:
            with self._place(host):
                within = patience(HANDSHAKE_DEADLINE, self._trip_from(host))
                async with asyncio.timeout(within):
                    stream = await SecureStream.accept(
                        reader, writer, self._identity, draw_key, handshake_deadline=within
                    )
                    who = stream.peer
                    stream.limit_frames(LINK_FRAME_MAX, pending=STRANGER_BYTES_MAX)
                    opened = await read_open(stream)
                    serve = await self._admit(stream, opened)
            handed_over = True
            await serve()
        except (OwnKeyError, DisconnectedError, BlockedError):
            return  # nobody's fault
        except (RemoteError, TimeoutError) as error:
            self._refused(who, str(error) or "too slow")
        finally:
            if not handed_over:
                writer.transport.abort()

    @contextmanager
    def _place(self, host: str) -> Iterator[None]:
        """Give back one of the places for strangers, which was taken, at the end."""
        try:
            yield
        finally:
            self._free(host)

    def _free(self, host: str) -> None:
        self._strangers[host] -= 1
        if not self._strangers[host]:
            del self._strangers[host]
